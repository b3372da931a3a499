// The pages work without this script. It keeps relative times running, refreshes the
// page while it is seen and nobody works in it, and helps to select rows.
'use strict';

const every = 5000;
const main = document.getElementById('main');
const live = document.getElementById('live');
let tag = '';

function span(ms) {
  let seconds = Math.round(ms / 1000);
  const units = [[365 * 86400, 'y'], [86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  for (let i = 0; i < units.length; i++) {
    const [size, name] = units[i];
    if (seconds < size) continue;
    let text = Math.floor(seconds / size) + ' ' + name;
    if (i + 1 < units.length) {
      const rest = Math.floor(seconds % size / units[i + 1][0]);
      if (rest > 0) text += ' ' + rest + ' ' + units[i + 1][1];
    }
    return text;
  }
  return '0 s';
}

function relative() {
  for (const e of document.querySelectorAll('[data-ago]')) {
    const away = Date.parse(e.dataset.ago) - Date.now();
    e.textContent = away >= 1000 ? 'in ' + span(away) : away > -1000 ? 'now' : span(-away) + ' ago';
  }
}

// busy: somebody has typed, selected or opened something that a refresh would undo.
function busy() {
  if (document.activeElement && document.activeElement.matches('input, select, textarea')) return true;
  if (main.querySelector('[data-still]')) return true; // a page that does not change by itself
  if (main.querySelector('input[type=checkbox]:checked, details[open], [data-changed]')) return true;
  return !getSelection().isCollapsed;
}

async function refresh() {
  if (document.hidden || live.getAttribute('aria-pressed') !== 'true' || busy()) return;
  try {
    const url = new URL(location.href);
    url.searchParams.delete('done');
    const answer = await fetch(url, {headers: {'X-Part': 'main', 'If-None-Match': tag}});
    if (answer.status === 304) return;
    const text = await answer.text();
    tag = answer.headers.get('ETag') || '';
    if (busy()) return;
    main.innerHTML = text;
    arrange();
  } catch (e) {
    live.title = 'The last refresh failed: ' + e.message;
  }
}

// arrange sets up what a new main part needs.
function arrange() {
  const all = document.getElementById('all');
  if (all) {
    all.hidden = false;
    const boxes = () => main.querySelectorAll('input[name=id]');
    const count = () => {
      const n = main.querySelectorAll('input[name=id]:checked').length;
      document.getElementById('selected').textContent = n ? n + ' selected' : '';
    };
    all.addEventListener('change', () => { for (const b of boxes()) b.checked = all.checked; count(); });
    for (const b of boxes()) b.addEventListener('change', count);
    count();
  }
  for (const log of main.querySelectorAll('[data-follow]')) log.scrollTop = log.scrollHeight;
  relative();
}

main.addEventListener('input', e => { if (e.target.matches('input[type=text], input:not([type]), textarea')) e.target.dataset.changed = ''; });
for (const a of document.querySelectorAll('[data-json]')) {
  const url = new URL(location.href);
  url.searchParams.set('format', 'json');
  a.href = url;
}
live.hidden = main.querySelector('[data-still]') !== null;
live.addEventListener('click', () => live.setAttribute('aria-pressed', live.getAttribute('aria-pressed') !== 'true'));
document.addEventListener('visibilitychange', refresh);
setInterval(relative, 1000);
setInterval(refresh, every);
arrange();
