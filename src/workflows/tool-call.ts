/**
 * One tool call, at most once unless the tool says otherwise (runtime §5: its outcome is recorded).
 * A lost worker is answered from the store: not begun, dispatch again; begun, unknown; done, as stored.
 */
import { isCancellation, sleep } from '@temporalio/workflow';
import type { CallRef, ToolCallInput, ToolCallOutcome } from '../core/step.ts';
import { runChildCall } from './child-call.ts';
import { callQuickTool, callTool, commit, withoutLocalActivities } from './proxies.ts';
import { runSubprompt } from './subprompt.ts';
import type { ThreadRun } from './thread-run.ts';

export async function runToolCall(
  run: ThreadRun,
  call: CallRef,
  input: ToolCallInput,
): Promise<ToolCallOutcome> {
  if (call.mode === 'prompt') return runSubprompt(run, call, input, runToolCall);
  if (call.mode === 'child') return runChildCall(run, call, input);
  for (let redispatches = 0; ; redispatches++) {
    try {
      return await dispatch(run, call, input);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
    const recorded = await commit('recordToolOutcome', run.settings, input, `what became of ${call.name}`);
    if (recorded.kind !== 'redispatch') return recorded;
    // The first time a worker was lost before the body began. Again and again means a fault: do not spin.
    if (redispatches > 0)
      await sleep(Math.min(30_000, 200 * 2 ** redispatches), { summary: `before ${call.name}, again` });
  }
}

async function dispatch(run: ThreadRun, call: CallRef, input: ToolCallInput): Promise<ToolCallOutcome> {
  const summary = `${call.name} · step ${input.step}`;
  const settings = run.settings as NonNullable<typeof run.settings>;
  if (call.mode === 'quick' && !withoutLocalActivities()) {
    try {
      return await callQuickTool(input, summary);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // Slower than promised, or its worker fell: it is idempotent, so it runs again where time is no matter.
    }
  }
  return callTool(settings, call, input, summary);
}
