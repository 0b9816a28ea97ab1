/** definitions §9: hooks that run between the transactions of a step, what they write, and what they find stored. */
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { type HookProject, hookRuntime } from '../support/hook-project.ts';

describe('definitions §9 hooks between the transactions of a step', () => {
  it('[definitions 9] messages written by a hook after a drained row are in the request of the same step', async () => {
    const model = scriptedModel([says('ok')]);
    const runtime = await hookRuntime({
      model,
      hooks: {
        async after_create_message(state, { role }) {
          if (role === 'user') await state.injectMessage({ role: 'system', content: 'noted' });
        },
      },
    });
    await runtime.start('go');
    expect(model.requests[0]?.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'system: You help.',
      'user: go',
      'system: noted',
    ]);
  });

  /** Returns how many requests the log shows as ended when the answer has arrived, and again when it is stored. */
  async function ended(hooks: HookProject['hooks']): Promise<number[]> {
    const counts: number[] = [];
    const runtime = await hookRuntime({
      model: scriptedModel([says('ok')]),
      hooks,
      options: {
        async probe(point) {
          if (point !== 'model_answered' && point !== 'model_committed') return;
          const [thread] = await runtime.store.threads.list();
          const events = await runtime.store.events.read(thread?.id ?? '', 0);
          counts.push(events.filter(({ type }) => type === 'model.answered').length);
        },
      },
    });
    await runtime.start('go');
    return counts;
  }

  it('[definitions 9] a request ends in the log before a slow hook on its answer, else with its answer', async () => {
    expect(await ended({ before_create_message: () => undefined })).toEqual([1, 1]);
    expect(await ended({ after_create_message: () => undefined })).toEqual([0, 1]);
    expect(await ended({})).toEqual([0, 1]);
  });
});
