/** Every rule has a test or states what it waits for, every cited rule exists, and the ledger is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readSections, readTitles, renderLedger } from './ledger.ts';
import { PAGE_LINES } from './page-lines.ts';
import { AGENTICX_LINES } from './page-lines-agenticx.ts';
import { DEFINITIONS_LINES } from './page-lines-definitions.ts';
import { RUNTIME_LINES } from './page-lines-runtime.ts';
import { TANGLE_LINES } from './page-lines-tangle.ts';
import { THREAD_STATE_LINES } from './page-lines-thread-state.ts';
import { REQUIREMENTS } from './requirements.ts';

const LEDGER = join(import.meta.dirname, '..', '..', 'docs', 'generated', 'conformance.md');

const ids = REQUIREMENTS.map(({ id }) => id);
const known = new Set(ids);
const titles = readTitles();
const shown = new Set(titles.map(({ id }) => id));

describe('the conformance ledger', () => {
  it('lists each rule once', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('has a test for every rule without a pending reason', () => {
    expect(REQUIREMENTS.filter(({ id, waitsFor }) => !waitsFor && !shown.has(id))).toEqual([]);
  });

  it('has no pending rule that a test already covers', () => {
    expect(REQUIREMENTS.filter(({ id, waitsFor }) => waitsFor && shown.has(id))).toEqual([]);
  });

  it('contains every rule cited by a title', () => {
    expect(titles.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it('contains every section that names a group of tests, or rules of it', () => {
    const isKnown = (id: string) => known.has(id) || ids.some((rule) => rule.startsWith(`${id}.`));
    expect(readSections().filter(({ id }) => !isKnown(id))).toEqual([]);
  });

  it.each([
    ['Protolink', PAGE_LINES],
    ['AgenticX', AGENTICX_LINES],
    ['Tangle', TANGLE_LINES],
    ['the runtime chapter', RUNTIME_LINES],
    ['ThreadState', THREAD_STATE_LINES],
    ['the definitions', DEFINITIONS_LINES],
  ])('lists each line of the page of %s once, and every cited case exists', (_, page) => {
    const lines = page.map(({ what }) => what);
    expect(lines.filter((what, index) => lines.indexOf(what) !== index)).toEqual([]);
    expect(page.flatMap(({ cases = [] }) => cases).filter((id) => !known.has(id))).toEqual([]);
  });

  it('equals docs/generated/conformance.md', () => {
    if (process.env.EVERTHREAD_WRITE_LEDGER === '1') writeFileSync(LEDGER, renderLedger());
    expect(readFileSync(LEDGER, 'utf8')).toBe(renderLedger());
  });
});
