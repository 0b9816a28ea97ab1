/**
 * Stages of `subagent_message` (definitions §13.3, §13.6): a message to a living child that may be messaged, with files
 * of the parent. The child's workflow is woken once the message is stored.
 */

import { end, go } from '../../author/policy/gate.ts';
import { createIds } from '../../author/state/id.ts';
import { refuseCall } from '../../author/tool/check-arguments.ts';
import { SUBAGENT_MESSAGE } from '../../core/project/subagent.ts';
import type { ChildRecord } from '../../store/family/family-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';
import { findAmong, type SubagentCall } from './callee.ts';
import { readWaitsBelow } from './finish.ts';
import type { FoundFiles, MessageFields } from './input.ts';
import { contextForChild, describeLiving, toItem } from './make.ts';

type MessageCall = SubagentCall & { readonly fields: MessageFields };

/** Stage: finds the child that the reference names. It is not messaged if its entry is not enabled (runtime §7.3). */
export async function resolveChild(ports: ActivityDependencies, { call, fields }: MessageCall) {
  const children = await ports.store.children.list(call.begun.thread.id);
  const child = children.find((each) => each.threadId === fields.referenceId && mayMessage(each));
  if (!child) return refuseCall(describeUnknown(fields, children, call.begun.thread));
  const found = await findAmong(ports, call.begun, child.agent);
  return typeof found === 'string' ? refuseCall(`${SUBAGENT_MESSAGE}: ${found}.`) : go({ child });
}

/** Stage: stores the message for the child, then wakes the child. */
export async function sendToChild(
  ports: ActivityDependencies,
  { call, fields, child, files }: MessageCall & FoundFiles & { readonly child: ChildRecord },
) {
  const { store } = ports;
  const { id: parentId } = call.begun.thread;
  const context = contextForChild(ports.registry(), call);
  const { step, index } = call.key;
  const { hears, blocking: waits } = child;
  const id = createIds(store, `${parentId}:${step}:${index}:message`)();
  const outcome = await store.children.send({
    parentId,
    childId: child.threadId,
    message: toItem(id, { hears, parentId, content: fields.content, attachments: files, context }),
    call: { step, index },
    waits,
  });
  if (outcome.kind === 'terminated') return end(outcome);
  if (outcome.kind === 'unknown')
    return refuseCall(describeUnknown(fields, await store.children.list(parentId), call.begun.thread));
  if (outcome.kind === 'refused') return refuseCall(`${SUBAGENT_MESSAGE}: ${outcome.reason}`);
  await wakeChild(ports, child.threadId);
  await ports.probe?.('subagent_told');
  // The child may already be waiting for people.
  const below = waits ? await readWaitsBelow(store, parentId) : {};
  return go({ outcome: { kind: 'child', child: outcome.start, start: false, wait: waits, ...below } });
}

/** A message of the parent lets a stopped child go on, as a person's does. */
export async function wakeChild({ store }: ActivityDependencies, childId: string): Promise<void> {
  await openThreadSignals(store).wake(childId, { speaks: true });
}

function mayMessage({ resumable, terminatedAt }: ChildRecord): boolean {
  return resumable && terminatedAt === null;
}

function describeUnknown(
  { referenceId }: MessageFields,
  children: readonly ChildRecord[],
  { forkedFrom }: Pick<ThreadRecord, 'forkedFrom'>,
): string {
  const living = children.filter(mayMessage);
  const known =
    living.length > 0 ? `There are: ${describeLiving(living)}.` : 'There is none: create one first.';
  return `${SUBAGENT_MESSAGE}: ${JSON.stringify(referenceId.slice(0, 200))} is not a subagent of yours that can be messaged. ${forkedFrom ? `Subagents of the thread that this one is a fork of are not available in a fork. ${known}` : known}`;
}
