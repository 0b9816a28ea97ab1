/**
 * One real run of `npm run demo -- web`, and one of `ui`, if there is a browser (`EVERTHREAD_BROWSER`): both pages survive
 * the loss of the worker of their answer.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findBrowser } from '../../scripts/web/browser.ts';
import { runDemo } from './run-demo.ts';

const inBrowser = findBrowser() ? describe : describe.skip;

inBrowser.each([
  ['web', 3],
  ['ui', 2],
])('npm run demo -- %s', (scenario, promises) => {
  it('the page continues when its worker is killed, and shows exactly what is stored', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const { code, output } = await runDemo([scenario, '--scripted'], folder);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output.match(/(✓ kept|✗ BROKEN) /g)).toEqual(Array(promises).fill('✓ kept '));
    expect(output).toMatch(/KILL .* in the middle of its answer/);
    expect(existsSync(join(folder, `${scenario}.png`))).toBe(true);
  }, 900_000);
});
