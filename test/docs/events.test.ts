/** docs/generated/events.md lists every kind of event of a thread's log, as the types define them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENT_KINDS } from '../../src/core/event/thread-event.ts';

const { renderEvents, TARGET } = await import(
  new URL('../../scripts/write-events.mjs', import.meta.url).href
);
const page = readFileSync(TARGET, 'utf8');

describe('docs/generated/events.md', () => {
  it('equals src/core/event/event-data.ts (npm run events writes it)', () => {
    expect(page).toBe(renderEvents());
  });

  it('has a line with a reason for every kind', () => {
    const told = [...page.matchAll(/^\| `([a-z0-9_.]+)` \| (\S.*?) \| `/gm)].map(([, kind]) => kind);
    expect(told.toSorted()).toEqual(Object.keys(EVENT_KINDS).toSorted());
  });
});
