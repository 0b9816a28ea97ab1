/** Tasks on the page: the list, one with its log as it runs, and the answer to its question. */
import { expect, it } from '@jest/globals';
import { defineTask } from '../../src/definitions/index.ts';
import { testApi } from '../support/api.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';
import { browsing, click, countOf, fill, inBrowser, shows } from './browsed.ts';

const asking = defineTask<number, string>({
  observe: ({ history }) => history.length,
  decide: ({ stepIndex, history }) =>
    stepIndex === 0
      ? { kind: 'ask', question: 'Which colour?' }
      : { kind: 'stop', pass: true, reason: 'asked', outcome: history[0]?.actionOutcome?.result },
});

inBrowser('tasks on the page', () => {
  const open = browsing();

  it('are listed, followed, and answered', async () => {
    const runtime = await taskRuntime({ asking });
    const { url } = await testApi(runtime);
    const { id } = await runtime.client.tasks.start({ task: 'asking', inputs: { a: 1 } });
    await runtime.client.tasks.wait(id, { timeoutMs: 120_000 });
    const page = await open(url, '#/tasks');
    await shows(page, 'waiting', 'ul.list');
    await click(page, `a[href="#/tasks/${id}"]`);
    await shows(page, 'Which colour?', '[data-wait=question]');
    await shows(page, 'task_start', '.scroller');
    await fill(page, '[name=answer]', 'blue');
    await click(page, '[data-act=approve]');
    await shows(page, 'completed', 'h1');
    await shows(page, 'final', '.scroller');
    expect(await countOf(page, '[data-wait]')).toBe(0);
    expect((await runtime.client.tasks.get(id)).verdict).toMatchObject({ pass: true });
  });
});
