/**
 * `finishSubagent`: makes the result of a call of a subagent (definitions §13.2, runtime §8.2): the child's report if
 * the call waits for it, otherwise its reference. Stored like that of any call, through the hooks around it.
 * Repeatable: a call that has a result keeps it, and one whose report has not arrived stays as it is.
 */

import type { ToolResult } from '../../core/message/message.ts';
import { SUBAGENT_MESSAGE } from '../../core/project/subagent.ts';
import type { FinishCallInput, FinishedSubagent, WaitBelow } from '../../core/thread/step.ts';
import { formatResult } from '../../core/thread/subagent-report.ts';
import { isTaskThread, toTaskId } from '../../core/thread/task-start.ts';
import type { ChildCall } from '../../store/family/family-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { beginCall, keepExistingFiles, settleCall } from '../tool/resumable-call.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';

type Report = NonNullable<ChildCall['report']>;

export async function finishSubagent(
  dependencies: ActivityDependencies,
  input: FinishCallInput,
): Promise<FinishedSubagent> {
  const { store, probe } = dependencies;
  const begun = await beginCall(dependencies, input, 'subagent');
  if (begun.kind === 'over') return begun.outcome;
  const { call } = begun;
  const { threadId, step, index } = call.key;
  const asked = await store.children.readCall(threadId, { step, index });
  if (asked?.report) {
    await probe?.('subagent_reported');
    return settleCall(dependencies, call, await composeReported(store, threadId, asked, asked.report));
  }
  if (input.error) {
    await store.children.releaseCall(threadId, { step, index });
    return settleCall(dependencies, call, composeFault(input.error.message, asked));
  }
  if (!asked) return settleCall(dependencies, call, composeFault('the call created nothing', asked));
  if (asked.waits) return { kind: 'waiting', ...(await readWaitsBelow(store, threadId)) };
  return settleCall(dependencies, call, composeReference(call.begun.call.name, asked));
}

async function composeReported(
  store: ThreadStore,
  threadId: string,
  { child }: ChildCall,
  { attachments, ...report }: Report,
): Promise<CallAnswer> {
  const isTask = isTaskThread(child.threadId);
  const text = isTask ? report.content : formatResult(child, { ...report, attachments: [] }, child.resumable);
  const files = await keepExistingFiles(store, threadId, attachments);
  const status =
    report.kind === 'result' ? { status: 'success', result: text } : { status: 'error', error: text };
  return {
    result: { ...(status as ToolResult), attachments: files.length > 0 ? files : undefined },
    metadata: isTask ? { task_id: toTaskId(child.threadId) } : { subagent_id: child.threadId },
  };
}

/** The result of a call that does not wait. */
function composeReference(name: string, { child }: ChildCall): CallAnswer {
  const { agent, name: shown, threadId, explicit } = child;
  const did = name === SUBAGENT_MESSAGE ? 'has been sent the message' : 'has started';
  const comes = explicit ? 'It reports by its own messages.' : 'Its report will arrive as a message.';
  const text = `The subagent ${shown ? `${agent} "${shown}"` : agent} ${did}. ${comes}\n\nReference: ${threadId}`;
  return { result: { status: 'success', result: text }, metadata: { subagent_id: threadId } };
}

function composeFault(why: string, asked: ChildCall | null): CallAnswer {
  const reference = asked ? `\n\nReference: ${asked.child.threadId}` : '';
  return {
    result: { status: 'error', error: `The subagent could not be called: ${why}${reference}` },
    metadata: asked ? { subagent_id: asked.child.threadId } : undefined,
  };
}

/**
 * What the workflow receives about the waits of descendants that hold its thread up: as many as its history has room
 * for.
 */
const MAX_WAITS = 8;
const NAME_CHARS = 64;

/** `waits` is absent if there are none. */
export async function readWaitsBelow(
  store: ThreadStore,
  threadId: string,
): Promise<{ readonly waits?: readonly WaitBelow[] }> {
  const shown = await store.waits.readShown(threadId);
  const waits = shown.slice(0, MAX_WAITS).map((wait) => ({ ...wait, name: wait.name.slice(0, NAME_CHARS) }));
  return waits.length > 0 ? { waits } : {};
}
