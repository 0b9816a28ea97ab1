/**
 * One real run of `npm run demo -- web`, if there is a browser (`EVERTHREAD_BROWSER`): a page survives the loss of the
 * worker of its answer.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findBrowser } from '../../scripts/web/browser.ts';
import { runDemo } from './run-demo.ts';

const inBrowser = findBrowser() ? describe : describe.skip;

inBrowser('npm run demo -- web', () => {
  it('the page continues when its worker is killed, and shows exactly what is stored', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const { code, output } = await runDemo(['web', '--scripted'], folder);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output.match(/(✓ kept|✗ BROKEN) /g)).toEqual(Array(3).fill('✓ kept '));
    expect(output).toMatch(/KILL .* in the middle of its answer/);
    expect(existsSync(join(folder, 'web.png'))).toBe(true);
  }, 900_000);
});
