/** One real run of `npm run demo -- research`: a family of threads, and the kill of the worker that runs it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { expectGoldenStory, readGoldenStory, readStories } from './demo-story.ts';
import { expectGoldenTrace, receiveTraces } from './demo-trace.ts';
import { runDemo } from './run-demo.ts';

/** The sentences of the coordinator, whose researchers report in any order or at once: each once, whatever step it tells of. */
function sentencesOf(lines: readonly string[] = []): string[] {
  const told = lines.map((line) =>
    line.replace(/\b[Ss]tep \d+/g, 'Step <n>').replace(/\d of \d are at work/, '<n> are at work'),
  );
  return [...new Set(told)].sort();
}

describe('npm run demo -- research', () => {
  it('survives a killed worker with the whole family, and keeps its promises', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const traces = await receiveTraces();
    const { code, output } = await runDemo(['research', '--scripted'], folder, { traces: traces.url });
    const promises = output.match(/(✓ kept|✗ BROKEN) .*/g) ?? [];
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(promises).toHaveLength(9);
    expect(output).toMatch(/KILL .* while Ana and Ben speak/);
    expect(output).toMatch(/coordinator .*idle .*\n +├─ researcher "Ana" .*\n +└─ researcher "Ben"/);
    const stories = await readStories(folder);
    expectGoldenStory('research-ana-killed', stories.Ana);
    expectGoldenStory('research-ben-killed', stories.Ben);
    // The kill may meet the coordinator between two researchers' reports: then it also has sentences about that.
    expect(sentencesOf(stories.coordinator)).toEqual(
      expect.arrayContaining([...readGoldenStory('research')]),
    );
    await expectGoldenTrace('research-killed', traces, folder);
  }, 900_000);

  it('tells the same stories if no worker is killed, but for the lost one', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const traces = await receiveTraces();
    const { code, output } = await runDemo(['research', '--scripted', '--calm'], folder, {
      traces: traces.url,
    });
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    const stories = await readStories(folder);
    expectGoldenStory('research-ana', stories.Ana);
    expectGoldenStory('research-ben', stories.Ben);
    expectGoldenStory('research', sentencesOf(stories.coordinator));
    await expectGoldenTrace('research', traces, folder);
  }, 900_000);
});
