/** Every rule has a test or says what it waits for, every cited rule exists, and the ledger is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readTitles, renderLedger } from './ledger.ts';
import { REQUIREMENTS } from './requirements.ts';

const LEDGER = join(import.meta.dirname, '..', '..', 'docs', 'conformance.md');

describe('the conformance ledger', () => {
  it('has a test for every rule that waits for nothing', () => {
    const shown = new Set(readTitles().map(({ id }) => id));
    const missing = REQUIREMENTS.filter(({ id, waitsFor }) => !waitsFor && !shown.has(id)).map(
      ({ id }) => id,
    );
    expect(missing).toEqual([]);
  });

  it('lets no rule wait that a test shows already', () => {
    const shown = new Set(readTitles().map(({ id }) => id));
    expect(REQUIREMENTS.filter(({ id, waitsFor }) => waitsFor && shown.has(id)).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('knows every rule of the runtime chapter that a title cites', () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    const unknown = readTitles().filter(({ id }) => /^runtime \d/.test(id) && !known.has(id));
    expect(unknown).toEqual([]);
  });

  it('is up to date in docs/conformance.md', () => {
    if (process.env.EVERTHREAD_WRITE_LEDGER === '1') writeFileSync(LEDGER, renderLedger());
    expect(readFileSync(LEDGER, 'utf8')).toBe(renderLedger());
  });
});
