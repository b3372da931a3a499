// The pages work without this script. It keeps relative times running, refreshes the
// page while it is seen and nobody works in it, shows what a timer would change while
// somebody types it, and helps to select rows.
'use strict';

const every = 5000;
const main = document.getElementById('main');
const live = document.getElementById('live');
let tag = main.dataset.tag;
let read = Date.now(); // when the page was last known to be as the database is

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
    let away = Date.parse(e.dataset.ago) - Date.now();
    if (Math.abs(away) >= 600000) away = Math.trunc(away / 60000) * 60000;
    e.textContent = away >= 1000 ? 'in ' + span(away) : away > -1000 ? 'now' : span(-away) + ' ago';
  }
  const stale = Date.now() - read > 4 * every && live.getAttribute('aria-pressed') === 'true';
  live.classList.toggle('stale', stale);
  live.textContent = stale ? 'Not live: as of ' + span(Date.now() - read) + ' ago' : 'Live';
}

// busy: somebody has typed, selected or opened something that a refresh would undo.
function busy() {
  if (document.activeElement && document.activeElement.matches('input, select, textarea')) return true;
  if (main.querySelector('[data-still]')) return true; // a page that does not change by itself
  if (main.querySelector('input[type=checkbox]:checked, details[open], [data-changed]')) return true;
  return !getSelection().isCollapsed;
}

// part asks for the main part of a page.
function part(url, more) {
  return fetch(url, {headers: {'X-Part': 'main', ...more}});
}

async function refresh() {
  if (document.hidden || live.getAttribute('aria-pressed') !== 'true') return;
  if (busy()) {
    read = Date.now(); // it is old because somebody works in it
    return;
  }
  try {
    const url = new URL(location.href);
    url.searchParams.delete('done');
    const answer = await part(url, {'If-None-Match': tag});
    if (answer.status !== 304) {
      if (!answer.ok) throw new Error('status ' + answer.status);
      const text = await answer.text();
      if (busy()) return;
      tag = answer.headers.get('ETag') || '';
      main.innerHTML = text;
      arrange();
    }
    read = Date.now();
    live.title = '';
  } catch (e) {
    live.title = 'The last refresh failed: ' + e.message; // what is there stays
  }
}

// attempt shows what the timer that somebody types would change.
let typed = 0;
function attempt(field) {
  clearTimeout(typed);
  typed = setTimeout(async () => {
    const url = new URL(location.href);
    url.searchParams.set('timer', field.value);
    const answer = await part(url, {});
    const box = document.createElement('div');
    box.innerHTML = await answer.text();
    const edit = box.querySelector('#edit');
    if (edit && document.contains(field)) {
      document.getElementById('edit').innerHTML = edit.innerHTML;
      relative();
    }
  }, 300);
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
  const title = main.querySelector('[data-tab]');
  if (title) document.title = title.dataset.tab + ' · nextrun';
  relative();
}

main.addEventListener('input', e => {
  if (!e.target.matches('input:not([type=checkbox]), textarea')) return;
  e.target.dataset.changed = '';
  if ('try' in e.target.dataset) attempt(e.target);
});
for (const a of document.querySelectorAll('[data-json]')) {
  const url = new URL(location.href);
  url.searchParams.set('format', 'json');
  a.href = url;
}
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = document.getElementById('zones');
if (own && ![...zones.querySelectorAll('button')].some(b => b.value === own)) {
  const row = document.createElement('li');
  row.innerHTML = '<button name="zone"></button> <span class="quiet">this browser</span>';
  row.firstChild.value = row.firstChild.textContent = own;
  zones.children[0] ? zones.children[0].after(row) : zones.append(row);
}
document.addEventListener('click', e => { // a menu closes when one clicks beside it
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(e.target)) menu.open = false;
});
live.hidden = main.querySelector('[data-still]') !== null;
live.addEventListener('click', () => live.setAttribute('aria-pressed', live.getAttribute('aria-pressed') !== 'true'));
document.addEventListener('visibilitychange', refresh);
setInterval(relative, 1000);
setInterval(refresh, every);
arrange();
