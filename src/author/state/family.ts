/**
 * ThreadState's parent and children (runtime §7.1, §8.2, definitions §13.5, §14.3).
 * - The parent is the thread whose registry lists this one. A claim in a start input does not make a thread a parent.
 * - A message is stored before the other thread is signalled.
 */

import type { SubagentRegistryEntry, ThreadFamily } from '../../core/author/thread-family.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { spawnGroupOf } from '../../core/project/subagent.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import type { ChildRecord } from '../../store/family/family-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { refuseTerminated } from '../guard/life.ts';
import type { CallerContext } from './caller-context.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface FamilyInput {
  readonly store: ThreadStore;
  readonly nextId: () => string;
  readonly redactKnown: ThreadEnv['redactKnown'];
  /** Opens the state of a relative. `times`: how often it was opened before. */
  readonly open: (relative: ThreadRecord, times: number) => Promise<ThreadState>;
}

/**
 * Returns the children, without a read if there was never one. `made`: true if one was made after the record was read.
 */
export async function loadChildren(
  store: ThreadStore,
  { id, childCount }: Pick<ThreadRecord, 'id' | 'childCount'>,
  { made = false }: { made?: boolean } = {},
): Promise<readonly ChildRecord[]> {
  return childCount > 0 || made ? store.children.list(id) : [];
}

export function createFamily(
  input: FamilyInput,
  caller: CallerContext,
): Omit<ThreadFamily<ThreadState>, 'terminate'> {
  const { store } = input;
  const { thread, children = [] } = caller;
  const find = createFinder(input);
  return {
    children: Object.freeze(children.filter(({ resumable }) => resumable).map(toEntry)),
    async getChildThread(referenceId) {
      const child = await store.children.get(String(referenceId));
      return child?.parentId === thread.id ? find(child.threadId) : null;
    },
    async getParentThread() {
      const entry = await findEntry(store, thread);
      return entry && find(entry.parentId);
    },
    notifyParent: (content) => notifyParent(input, caller, content),
    async setStatus(status) {
      const text = requireText('setStatus', status, { characters: LIMITS.childStatusChars });
      if (await findLivingEntry(store, thread))
        await store.children.setStatus(thread.id, input.redactKnown(text));
    },
  };
}

/** Returns a function that opens relatives, and counts how often each was opened. */
function createFinder({ store, open }: FamilyInput): (threadId: string) => Promise<ThreadState | null> {
  const asked = new Map<string, number>();
  return async (threadId) => {
    const times = asked.get(threadId) ?? 0;
    asked.set(threadId, times + 1);
    const relative = await store.threads.get(threadId);
    return relative && open(relative, times);
  };
}

/**
 * Works even if communication is explicit: that withholds results of executions from the parent, not messages of code.
 */
async function notifyParent(
  { store, nextId, redactKnown }: FamilyInput,
  { thread, work, metadata }: CallerContext,
  content: string,
): Promise<void> {
  const text = requireText('notifyParent', content, { bytes: LIMITS.contentBytes });
  const entry = await findLivingEntry(store, thread);
  if (!entry) return;
  const message: MessageItem = {
    kind: 'message',
    id: nextId(),
    role: 'user',
    content: redactKnown(text),
    silent: true,
    metadata: { ...metadata, subagent_id: thread.id },
  };
  // Stored before it is signalled.
  if (!(await store.children.sendToParent(thread.id, message))) return;
  work.noteTold(message.content);
  await work.reach(entry.parentId).wake();
}

/** The thread's entry in its parent's registry, as it is now. */
async function findEntry(store: ThreadStore, { id, parentId }: ThreadRecord): Promise<ChildRecord | null> {
  return parentId === null ? null : store.children.get(id);
}

/** Throws `ThreadTerminated`: a thread that has ended sends nothing. */
async function findLivingEntry(store: ThreadStore, thread: ThreadRecord): Promise<ChildRecord | null> {
  const entry = await findEntry(store, thread);
  refuseTerminated(thread.id, entry?.terminatedAt != null);
  return entry;
}

function toEntry(child: ChildRecord): SubagentRegistryEntry {
  const spawnGroupId = spawnGroupOf(child.parentId, child.madeStep);
  return Object.freeze({
    reference: child.threadId,
    name: child.agent,
    ...(child.title === null ? {} : { title: child.title }),
    description: child.description,
    resumable: child.resumable,
    blocking: child.blocking,
    ...(child.name === null ? {} : { threadName: child.name }),
    ...(spawnGroupId === null ? {} : { spawnGroupId }),
    createdAt: child.createdAt,
    status: child.status,
    parentCommunication: child.explicit ? 'explicit' : 'implicit',
  });
}

function requireText(
  method: string,
  text: unknown,
  { bytes = Number.POSITIVE_INFINITY, characters = bytes }: { bytes?: number; characters?: number },
): string {
  const trimmed = typeof text === 'string' ? text.trim() : '';
  if (trimmed.length === 0) throw invalid(`${method} requires a string that is not empty.`);
  if (trimmed.length > characters)
    throw invalid(`${method} accepts a string of at most ${characters} characters.`);
  if (utf8Length(trimmed) > bytes) throw invalid(`${method} accepts a string of at most ${bytes} bytes.`);
  return trimmed;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
