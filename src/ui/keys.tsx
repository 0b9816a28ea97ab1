/**
 * The keyboard: `j` and `k` walk through a list, `/` filters, `a` and `d` lead to the answers of what waits, `s` to the box
 * to send, `?` shows this. `a` and `d` only put the focus on a button, whose command is then shown: Enter presses it.
 */
import { signal } from '@preact/signals';
import { openTab, place } from './router.ts';

export const helps = signal(false);

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['j, k', 'next, previous entry'],
  ['Enter', 'open the entry, press the button'],
  ['/', 'filter threads'],
  ['a', 'to the button that approves or answers'],
  ['d', 'to the button that denies'],
  ['s', 'to the box to send'],
  ['g', 'all threads'],
  ['Escape', 'close the drawer, leave the field'],
  ['?', 'this list'],
];

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus();

/** Entries of a list, or of a story. */
function walk(by: 1 | -1): void {
  const entries = [...document.querySelectorAll<HTMLElement>('[data-row], .scroller summary')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const next = entries[at < 0 ? (by === 1 ? 0 : entries.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  j: () => walk(1),
  k: () => walk(-1),
  '/': () => focus('#search'),
  a: () => focus('[data-act=approve], [data-act=done]'),
  d: () => focus('[data-act=deny], [data-act=not-done]'),
  s: () => focus('#send'),
  g: () => (location.hash = '#/threads'),
  '?': () => (helps.value = !helps.value),
};

export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (event.key === 'Escape') {
      const { value: shown } = place;
      if (helps.value) helps.value = false;
      else if (target.matches('input, textarea, select')) target.blur();
      else if (shown.view === 'thread' && shown.tab) openTab(shown.threadId, undefined);
      return;
    }
    if (target.matches('input, textarea, select')) return;
    const action = ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function KeyHelp() {
  if (!helps.value) return null;
  return (
    <div class="help" role="dialog" aria-modal="true" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="plain" onClick={() => (helps.value = false)}>
        Close
      </button>
    </div>
  );
}
