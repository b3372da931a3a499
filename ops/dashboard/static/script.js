// The pages work without this script. It keeps times running, refreshes the page while it is seen and nobody works in it,
// filters lists and shows what a form would change while somebody types, jumps to tasks and runs, and helps to select rows.
'use strict';

const every = 5000;
const main = document.getElementById('main');
const live = document.getElementById('live');
const prefix = document.body.dataset.prefix;
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
  for (const e of document.querySelectorAll('[data-for]')) e.textContent = span(Math.max(Date.now() - Date.parse(e.dataset.for), 0));
  const stale = Date.now() - read > 4 * every && live.getAttribute('aria-pressed') === 'true';
  live.classList.toggle('stale', stale);
  live.textContent = stale ? 'As of ' + span(Date.now() - read) + ' ago' : 'Live';
}

// busy: somebody has typed, selected or opened something that a refresh would undo.
function busy() {
  if (main.contains(document.activeElement) && document.activeElement.matches('input, select, textarea')) return true;
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
    const answer = await part(location.href, {'If-None-Match': tag});
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

// replace shows a part of another address of this page, once somebody has stopped typing.
let typed = 0;
function replace(url, id, keep) {
  clearTimeout(typed);
  typed = setTimeout(async () => {
    const answer = await part(url, {});
    const box = document.createElement('div');
    box.innerHTML = await answer.text();
    const fresh = box.querySelector('#' + id), old = document.getElementById(id);
    if (!fresh || !old) return;
    old.innerHTML = fresh.innerHTML;
    if (keep) history.replaceState(null, '', url);
    arrange();
  }, 200);
}

main.addEventListener('input', e => {
  if (!e.target.matches('input:not([type=checkbox]), textarea, select')) return;
  const url = new URL(location.href), form = e.target.form;
  if (e.target.dataset.filter) {
    url.searchParams.set('q', e.target.value);
    url.searchParams.delete('after');
    return replace(url, e.target.dataset.filter, true);
  }
  e.target.dataset.changed = '';
  if (e.target.closest('#edit')) {
    for (const [name, value] of new FormData(form)) url.searchParams.set(name, value);
    replace(url, 'effect', false);
  }
});

// Jumping: / and Ctrl-K lead into the field, arrows and Enter through what was found.
const field = document.querySelector('.jump input'), found = document.getElementById('found');
let asked = 0;
async function jump() {
  const n = ++asked;
  if (!field.value.trim()) return found.replaceChildren();
  const answer = await fetch(prefix + '/jump?format=json&q=' + encodeURIComponent(field.value));
  if (!answer.ok || n !== asked) return;
  found.replaceChildren(...(await answer.json()).map((place, i, all) => {
    const row = document.createElement('li'), a = document.createElement('a'), name = document.createElement('span'), kind = document.createElement('span');
    a.href = place.link;
    name.textContent = place.name;
    kind.textContent = place.kind;
    kind.className = 'quiet';
    a.setAttribute('aria-selected', all.length === 1 || place.name === field.value.trim());
    a.append(name, kind);
    row.append(a);
    return row;
  }));
}
field.addEventListener('input', jump);
field.addEventListener('keydown', e => {
  const rows = [...found.querySelectorAll('a')], at = rows.findIndex(a => a.getAttribute('aria-selected') === 'true');
  if (e.key === 'Escape') field.blur(), field.value = '', found.replaceChildren();
  if (!rows.length) return;
  if (e.key === 'Enter' && at >= 0) e.preventDefault(), location.assign(rows[at].href); // else the page of the form lets one choose
  if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
    e.preventDefault();
    const next = e.key === 'ArrowDown' ? (at + 1) % rows.length : (at > 0 ? at : rows.length) - 1;
    rows.forEach((a, i) => a.setAttribute('aria-selected', i === next));
  }
});
document.addEventListener('keydown', e => {
  const writes = e.target.matches('input, textarea, select');
  if (e.key === '/' && !writes && !e.ctrlKey && !e.metaKey || e.key === 'k' && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    field.focus();
    field.select();
  }
});

// arrange sets up what a new main part needs.
function arrange() {
  const all = document.getElementById('all');
  if (all) {
    all.hidden = false;
    const boxes = () => main.querySelectorAll('input[name=id][type=checkbox]');
    const count = () => {
      const n = main.querySelectorAll('input[name=id]:checked').length;
      document.getElementById('selected').textContent = n ? n + ' selected' : '';
    };
    all.onchange = () => { for (const b of boxes()) b.checked = all.checked; count(); };
    for (const b of boxes()) b.onchange = count;
    count();
  }
  for (const log of main.querySelectorAll('[data-follow]')) log.scrollTop = log.scrollHeight;
  const title = main.querySelector('[data-tab]');
  if (title) document.title = title.dataset.tab + ' · nextrun';
  relative();
}

for (const a of document.querySelectorAll('[data-json]')) {
  const url = new URL(location.href);
  url.searchParams.set('format', 'json');
  a.href = url;
}
// The zone of this browser is offered, and taken at first sight.
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = document.getElementById('zones');
if (own && ![...zones.querySelectorAll('button')].some(b => b.value === own)) {
  const row = document.createElement('li');
  row.innerHTML = '<button name="zone"></button> <span class="quiet">this browser</span>';
  row.firstChild.value = row.firstChild.textContent = own;
  zones.append(row);
}
if (own && own !== 'UTC' && !('zoned' in document.body.dataset) && !sessionStorage.getItem('zoned')) {
  sessionStorage.setItem('zoned', own);
  location.replace(prefix + '/zone?zone=' + encodeURIComponent(own) + '&back=' + encodeURIComponent(location.pathname.slice(prefix.length) + location.search));
}
document.addEventListener('click', e => { // a menu closes when one clicks beside it
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(e.target)) menu.open = false;
  if (!e.target.closest('.jump')) found.replaceChildren();
});
live.hidden = main.querySelector('[data-still]') !== null;
live.addEventListener('click', () => live.setAttribute('aria-pressed', live.getAttribute('aria-pressed') !== 'true'));
document.addEventListener('visibilitychange', refresh);
setInterval(relative, 1000);
setInterval(refresh, every);
arrange();
