/** Lists and single records as commands print them. */
import { describe, expect, it } from '@jest/globals';
import { fieldLines, listing } from '../../../src/cli/output/listing.ts';

const NOON = Date.UTC(2026, 0, 2, 12) * 1000;
const tokens = [
  { id: 't1', name: 'two\nlines', scopes: ['read', 'write'], createdAt: NOON },
  { id: 't2', name: null, scopes: [], createdAt: NOON },
];
const shown = { columns: { TOKEN: 'id', NAME: 'name', SCOPES: 'scopes' }, none: 'None.' } as const;

describe('listing', () => {
  it('keeps every record when a cell has a line break', () => {
    const { text = '' } = listing('tokens', tokens, shown);
    expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
      'TOKEN  NAME       SCOPES',
      't1     two',
      'lines  read write',
      't2',
    ]);
  });

  it('has only a note when there are no records', () => {
    expect(listing('tokens', [], shown)).toEqual({ json: { tokens: [] }, note: 'None.' });
  });

  it('hints at more records if there are as many as requested', () => {
    const more = { ...shown, limit: 2, more: (last?: { id: string }) => `after ${last?.id}.` };
    expect(listing('tokens', tokens, more).hint).toBe('At most 2 are shown: after t2.');
    expect(listing('tokens', tokens.slice(1), more).hint).toBeUndefined();
  });

  it('escapes control characters', () => {
    const { text } = listing('tokens', [{ id: '\u001b[2J', name: '', scopes: [], createdAt: 0 }], shown);
    expect(text).not.toContain('\u001b[2J');
  });
});

describe('the lines of a record', () => {
  it('omit empty fields, and format a time by the name of its field', () => {
    const lines = fieldLines(tokens[1] as (typeof tokens)[1], { id: 'id', name: 'name', made: 'createdAt' });
    expect(lines.map(([name]) => name)).toEqual(['id', 'made']);
    expect(lines[1]?.[1]).toMatch(/^2026-01-\d\d \d\d:\d\d:\d\d$/);
  });
});
