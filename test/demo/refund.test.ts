/**
 * One real run of `npm run demo -- refund`: a wait for a person outlives its worker, and is answered with the command.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { expectGoldenStory, readStories } from './demo-story.ts';
import { expectGoldenTrace, receiveTraces } from './demo-trace.ts';
import { runDemo } from './run-demo.ts';

describe('npm run demo -- refund', () => {
  it('[PL-09] survives a worker killed while a person is asked, and pays once what was shown', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const traces = await receiveTraces();
    const { code, output } = await runDemo(['refund', '--scripted'], folder, { traces: traces.url });
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output.match(/(✓ kept|✗ BROKEN) /g)).toEqual(Array(4).fill('✓ kept '));
    expect(output).toMatch(/KILL .* while the refund waits/);
    expect(output).toContain('refund 42 euros for booking LF-2207');
    expect(readFileSync(join(folder, 'refunds.md'), 'utf8').trim().split('\n')).toHaveLength(1);
    // Nobody held the wait: the story is that of a refund during which no worker was lost.
    expectGoldenStory('refund', (await readStories(folder)).cashier);
    await expectGoldenTrace('refund-killed', traces, folder);
  }, 900_000);

  it('tells the same story if no worker is killed', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const traces = await receiveTraces();
    const { code, output } = await runDemo(['refund', '--scripted', '--calm'], folder, {
      traces: traces.url,
    });
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output).not.toContain('KILL');
    expectGoldenStory('refund', (await readStories(folder)).cashier);
    await expectGoldenTrace('refund', traces, folder);
  }, 900_000);
});
