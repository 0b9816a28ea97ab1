/**
 * `subagent_message` (definitions §13.3, §13.6): a word to a child that lives and may be spoken to, with files of the parent.
 * The child's workflow is woken when the store has it.
 */
import { SUBAGENT_MESSAGE } from '../../core/subagent.ts';
import { createIds } from '../../state/id.ts';
import type { ChildRecord } from '../../store/port/family.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';
import type { ResumableCall } from '../tool/resumable-call.ts';
import { findFiles, type MessageFields, readMessage } from './input.ts';
import { describeLiving, type MadeChild, toItem } from './make.ts';

export async function tellChild(dependencies: ActivityDependencies, call: ResumableCall): Promise<MadeChild> {
  const { store, probe } = dependencies;
  const { thread } = call.begun;
  const read = readMessage(call.begun.call.arguments);
  if (!read.ok) return refused(read.error);
  const children = await store.listChildren(thread.id);
  const child = children.find((each) => each.threadId === read.value.referenceId && maySpeakTo(each));
  if (!child) return refused(describeUnknown(read.value, children));
  const { step, index } = call.key;
  const nextId = createIds(store, `${thread.id}:${step}:${index}:told`);
  const place = { store, threadId: thread.id, nextId };
  const files = await findFiles(place, SUBAGENT_MESSAGE, read.value.attachments);
  if (!files.ok) return refused(files.error);
  const { hears, blocking: waits } = child;
  const id = createIds(store, `${thread.id}:${step}:${index}:message`)();
  const told = await store.tellChild({
    parentId: thread.id,
    childId: child.threadId,
    message: toItem(id, {
      hears,
      parentId: thread.id,
      content: read.value.content,
      attachments: files.value,
    }),
    call: { step, index },
    waits,
  });
  if (told.kind === 'terminated') return told;
  if (told.kind === 'unknown')
    return refused(describeUnknown(read.value, await store.listChildren(thread.id)));
  await wakeChild(dependencies, child.threadId);
  await probe?.('subagent_told');
  return { kind: 'child', child: told.start, start: false, wait: waits };
}

/** A parent's word lets a child go on that was stopped, as a person's does. */
export async function wakeChild({ store }: ActivityDependencies, childId: string): Promise<void> {
  await openThreadSignals(store).wake(childId, { speaks: true });
}

function maySpeakTo({ resumable, terminatedAt }: ChildRecord): boolean {
  return resumable && terminatedAt === null;
}

function describeUnknown({ referenceId }: MessageFields, children: readonly ChildRecord[]): string {
  const living = children.filter(maySpeakTo);
  const known =
    living.length > 0 ? `There are: ${describeLiving(living)}.` : 'There is none: create one first.';
  return `${SUBAGENT_MESSAGE}: ${JSON.stringify(referenceId.slice(0, 200))} is no subagent of yours that can be spoken to. ${known}`;
}

function refused(error: string): MadeChild {
  return { kind: 'refused', composed: { result: { status: 'error', error } } };
}
