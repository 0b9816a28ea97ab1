/**
 * Records histories; runs only with `npm run record`. An existing file is never overwritten.
 * The version in a file's name is that of the package that recorded it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { liveScenario } from './live.ts';
import { liveTask } from './live-task.ts';
import { SCENARIOS } from './scenarios.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
describe('recording', () => {
  it('records a task', async () => {
    const file = (run: number) =>
      new URL(`./histories/task-asks-run${run}-v${version}.json`, import.meta.url);
    if (existsSync(file(1))) return;
    const histories = await liveTask();
    for (const [index, history] of histories.entries()) writeFileSync(file(index + 1), toLine(history));
  });

  it.each(Object.entries(SCENARIOS))('records %s', async (name, scenario) => {
    const file = (run: number) =>
      new URL(`./histories/thread-${name}-run${run}-v${version}.json`, import.meta.url);
    if (existsSync(file(1))) return;
    const histories = await liveScenario(scenario);
    expect(histories.length).toBeGreaterThan(0);
    for (const [index, history] of histories.entries()) writeFileSync(file(index + 1), toLine(history));
  });
});

/** Without the whitespace of the SDK's writer, which is a third of a file. */
function toLine(history: Parameters<typeof historyToJSON>[0]): string {
  return `${JSON.stringify(JSON.parse(historyToJSON(history)))}\n`;
}
