/** definitions §14.6: tools that code queues or invokes. */
import { describe, expect, it } from '@jest/globals';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { type Hooks, hookRuntime } from '../support/hook-project.ts';
import { toolOf } from '../support/tool-work.ts';

/** The activity fails there once, as that of a lost worker does, and is tried again. */
function lostOnceAt(point: FaultPoint): (at: FaultPoint) => void {
  let lost = false;
  return (at) => {
    if (lost || at !== point) return;
    lost = true;
    throw new Error(`lost at ${point}`);
  };
}

describe('definitions §14.6 tools that hooks queue', () => {
  const rows: readonly (readonly [string, FaultPoint, Hooks])[] = [
    [
      'an answer',
      'model_committed',
      {
        before_create_message: (state, { content }) =>
          content === 'hello' ? state.queueTool('note', {}) : undefined,
      },
    ],
    [
      'a drained message',
      'step_begun',
      { before_create_message: (state, { role }) => (role === 'user' ? state.queueTool('note', {}) : undefined) },
    ],
  ];
  for (const [what, point, hooks] of rows)
    it(`[definitions 14.6] are stored with ${what}: a worker that is lost behind the commit loses none`, async () => {
      const runtime = await hookRuntime({
        model: scriptedModel([says('hello'), says('noted')]),
        hooks,
        tools: { note: toolOf(() => 'done') },
        options: { probe: lostOnceAt(point) },
      });
      const thread = await runtime.start('go');
      expect(await runtime.transcript(thread)).toContain('tool note success: "done"');
    });
});
