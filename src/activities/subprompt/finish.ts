/**
 * `finishSubprompt`: composes the result of a call of a prompt from its stored step (definitions §12.6), and stores it
 * like that of any call, through the hooks around it. Repeatable: a call that has a result keeps it.
 */

import type { FinishCallInput, StoredError, ToolCallOutcome } from '../../core/thread/step.ts';
import { composeSubpromptResult, toSwitches } from '../../core/thread/subprompt-result.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { beginCall, keepExistingFiles, type ResumableCall, settleCall } from '../tool/resumable-call.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import { findEntry } from '../tool-gate/listed-call.ts';

export async function finishSubprompt(
  dependencies: ActivityDependencies,
  input: FinishCallInput,
): Promise<ToolCallOutcome> {
  const { probe } = dependencies;
  await probe?.('subprompt_answered');
  const begun = await beginCall(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return begun.outcome;
  const outcome = await settleCall(
    dependencies,
    begun.call,
    await composeResult(dependencies, begun.call, input.error),
  );
  await probe?.('subprompt_finished');
  return outcome;
}

const NOT_ASKED: StoredError = { code: 'Fault', message: 'the prompt could not be run' };

/** `fault`: why the step could not be run; it is more precise than the error of a step that was left open. */
async function composeResult(
  { store, registry }: ActivityDependencies,
  { key, begun }: ResumableCall,
  fault?: StoredError,
): Promise<CallAnswer> {
  const switches = toSwitches(findEntry(registry(), begun)?.extra);
  const stored = await store.subprompts.read(key.threadId, key.step, key.index);
  const { text = null, error = NOT_ASKED, calls = [], attachments = [], directive } = stored ?? {};
  const result = composeSubpromptResult({ text, error: error && (fault ?? error), calls }, switches);
  const present = await keepExistingFiles(store, key.threadId, attachments);
  const files = present.slice(0, LIMITS.attachments);
  return { result: files.length > 0 ? { ...result, attachments: files } : result, directive };
}
