/**
 * Creates a child thread (runtime §7.1, definitions §13.4), with all that it begins with, in one transaction under its
 * parent's lock. Its id is derived from the call that creates it, so a repeated command finds it.
 *
 * Checks whether another child may be created (runtime §7.2): the limits of its agent, of this parent, of the team, and
 * of depth. Checked before variables are requested, and again in the transaction that creates the child.
 *
 * The variables that a child begins with (definitions §16): those of its parent that are not scoped by the child's
 * agent, and those given for it. Encryption binds a value to its place, so each is encrypted again; without any, no key
 * is needed.
 */

import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { causedBy, openFamily } from '../budget/account.ts';
import { stopClocks } from '../budget/lines.ts';
import { openVariable, putVariable } from '../env/env.ts';
import { insertTask, toCreatedData } from '../task/task.ts';
import { type CommandContext, inSnapshot, inThread, unknownThread } from '../transaction/context.ts';
import { toThreadRow } from '../transaction/new-thread.ts';
import { findRow, insertRows, selectRows } from '../transaction/rows.ts';
import { refuseTeam, toChildTeam } from '../transaction/team-limit.ts';
import { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type ChildRow, findChild, readStart, toChildRecord } from './child.ts';
import { enqueueFirstMessages } from './child-files.ts';
import type {
  ChildLimit,
  CreateChild,
  CreatedChild,
  GivenVariable,
  LimitedChild,
  NewChild,
} from './family-record.ts';

/**
 * Creates a child's thread with its variables, files and first messages, and its place in the registry: status
 * `running`, or `idle` if it has no message yet. The same call again finds the same child.
 * Events `subagent.created` in the parent's log, `thread.created` in the child's. Rejects with `InvalidVariable`.
 */
export async function createChild(context: CommandContext, command: CreateChild): Promise<CreatedChild> {
  return inThread(context, command.parentId, async (parent) => {
    if (parent.row.terminated_at !== null) return { kind: 'terminated' };
    if (!(await isCallOver(parent, command))) return makeChild(context, parent, command);
    return { kind: 'refused', reason: 'the call ended before a subagent was created.' };
  });
}

/** An attempt that was cut off by a stop may still come here: its child would begin after the family has stopped. */
async function isCallOver(parent: ThreadTransaction, command: CreateChild): Promise<boolean> {
  const { call } = command;
  if (call === null || (await findExisting(parent, command))) return false;
  const found = await parent.find('tool_calls', { step: call.step, idx: call.index }, ['state']);
  return found !== undefined && ['finished', 'done', 'unknown'].includes(found.state);
}

type CreateResult = Exclude<CreatedChild, { kind: 'terminated' }>;
type ChildInput = Omit<CreateChild, 'parentId'>;

export async function makeChild(
  context: CommandContext,
  parent: ThreadTransaction,
  command: ChildInput,
): Promise<CreateResult> {
  const known = await findExisting(parent, command);
  if (known) return toCreated(parent, known);
  const refused = await findLimit(parent, command.child);
  if (refused) return refused;
  const { inherits, given, call, child, task } = command;
  if (task) await insertTaskThread(context, parent, { child, task });
  else await insertThread(context, parent, child);
  const row = await insertRow(parent, command);
  if (!task)
    await copyEnv(context, parent, { childId: row.child_id, inherits, promoted: child.promoted, given });
  const made = call && (await parent.find('tool_calls', { step: call.step, idx: call.index }, ['call_id']));
  const { agent, name } = row;
  const eventData = { childId: row.child_id, agent, name, callId: made?.call_id };
  parent.emit('subagent.created', eventData, { step: call?.step });
  // The child works in the parent's place.
  if (command.waits) await stopClocks(context, parent);
  return toCreated(parent, row);
}

async function toCreated({ trx }: ThreadTransaction, row: ChildRow): Promise<CreateResult> {
  return { kind: 'created', child: toChildRecord(row), start: await readStart(trx, row.child_id) };
}

async function findExisting(
  { trx, threadId }: ThreadTransaction,
  { child, call }: ChildInput,
): Promise<ChildRow | undefined> {
  const known = await findChild(trx, child.threadId);
  if (known || call === null) return known;
  return findRow(trx, 'children', { parent_id: threadId, made_step: call.step, made_idx: call.index });
}

async function insertThread(
  context: CommandContext,
  parent: ThreadTransaction,
  { messages, ...made }: NewChild,
): Promise<void> {
  const { row } = parent;
  const { agent, name, arguments: given } = made;
  const child = await insertThreadRow(context, parent, made);
  child.emit('thread.created', { agent, parentId: row.id, name });
  await openFamily(context, parent);
  const caused = messages.map((message) => ({ ...message, ...causedBy(parent) }));
  const own = await enqueueFirstMessages(child, row.id, { messages: caused, arguments: given });
  child.set({ arguments: JSON.stringify(own) });
  await child.flush();
}

/** A task spends from the budgets of the execution that has started it. */
async function insertTaskThread(
  context: CommandContext,
  parent: ThreadTransaction,
  { child, task: { begins, manifest } }: Required<Pick<CreateChild, 'child' | 'task'>>,
): Promise<void> {
  await openFamily(context, parent);
  const { budget: accounts } = causedBy(parent);
  const made = await insertThreadRow(context, parent, child, accounts ? JSON.stringify({ accounts }) : null);
  await insertTask(parent.trx, { threadId: child.threadId, task: begins, manifest }, made.now);
  made.emit('task.created', toCreatedData(begins));
  await made.flush();
}

async function insertThreadRow(
  context: CommandContext,
  parent: ThreadTransaction,
  { threadId, agent, name, arguments: given, context: runContext }: Omit<NewChild, 'messages'>,
  budget: string | null = null,
): Promise<ThreadTransaction> {
  const { trx, row } = parent;
  const now = context.now();
  const family = {
    userId: row.user_id,
    parentId: row.id,
    rootId: row.root_id,
    organizationId: row.organization_id,
  };
  const made = toThreadRow({ threadId, agent, name, arguments: given, context: runContext, ...family }, now);
  const { number } = parent.change;
  const inserted = { ...made, team: toChildTeam(parent), budget, changed: number, moved: number };
  await insertRows(trx, 'threads', [inserted]);
  return new ThreadTransaction(trx, inserted, now, parent.change);
}

/** A child without a first message has nothing to answer: it is idle until one comes. */
async function insertRow(parent: ThreadTransaction, { child, call, waits }: ChildInput): Promise<ChildRow> {
  const asked = child.messages.at(-1);
  const row: ChildRow = {
    parent_id: parent.threadId,
    child_id: child.threadId,
    agent: child.agent,
    name: child.name,
    title: child.title,
    description: child.description,
    resumable: child.resumable ? 1 : 0,
    blocking: child.blocking ? 1 : 0,
    explicit: child.explicit ? 1 : 0,
    hears: child.hears,
    status: asked || waits ? 'running' : 'idle',
    made_step: call?.step ?? null,
    made_idx: call?.index ?? null,
    wait_step: waits && call ? call.step : null,
    wait_idx: waits && call ? call.index : null,
    told_step: null,
    told_idx: null,
    told_id: asked?.id ?? null,
    owes: asked || waits ? 1 : 0,
    started: 0,
    created_at: parent.now,
    terminated_at: null,
    promoted: child.promoted ? JSON.stringify(child.promoted) : null,
    superseded: null,
  };
  await insertRows(parent.trx, 'children', [row]);
  parent.set({ child_count: parent.row.child_count + 1 });
  return row;
}

/** The limit for which `create` would be refused now; null if there is none. */
export async function judgeChild(
  context: CommandContext,
  parentId: string,
  child: LimitedChild,
): Promise<ChildLimit | null> {
  return inSnapshot(context, async (trx) => {
    const row = await findRow(trx, 'threads', { id: parentId });
    if (!row) throw unknownThread(context.storeId, parentId);
    return (await findLimit({ trx, threadId: parentId, row }, child)) ?? null;
  });
}

type Parent = Pick<ThreadTransaction, 'trx' | 'threadId' | 'row'>;

async function findLimit(parent: Parent, child: LimitedChild): Promise<ChildLimit | undefined> {
  return (await refuseFull(parent, child)) ?? (await refuseLarge(parent)) ?? (await refuseDeep(parent));
}

async function refuseFull(
  { trx, threadId, row }: Parent,
  { agent, maxInstances }: LimitedChild,
): Promise<ChildLimit | undefined> {
  if (row.child_count === 0 && maxInstances !== 0) return undefined;
  const living = selectRows(trx, 'children', { parent_id: threadId, terminated_at: null });
  if (maxInstances !== undefined) {
    const same = await living
      .selectAll()
      .where('agent', '=', agent)
      .orderBy('created_at')
      .orderBy('child_id')
      .execute();
    if (same.length >= maxInstances)
      return { kind: 'full', limit: maxInstances, living: same.map(toChildRecord) };
  }
  const { count } = await living
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count < LIMITS.childrenPerThread) return undefined;
  const reason = `Thread "${threadId}" has ${LIMITS.childrenPerThread} living subagents, which is the limit; message one of them, or terminate some first.`;
  return { kind: 'refused', reason };
}

async function refuseLarge(parent: Parent): Promise<ChildLimit | undefined> {
  const reason = await refuseTeam(parent);
  return reason === undefined ? undefined : { kind: 'refused', reason };
}

async function refuseDeep({ trx, row }: Parent): Promise<ChildLimit | undefined> {
  let above = row.parent_id;
  for (let depth = 1; above !== null; depth++) {
    if (depth >= LIMITS.threadDepth) {
      const reason = `Thread "${row.id}" is ${LIMITS.threadDepth} threads below its root, which is the limit; do this work in the thread itself.`;
      return { kind: 'refused', reason };
    }
    const next = await findRow(trx, 'threads', { id: above }, ['parent_id']);
    above = next?.parent_id ?? null;
  }
  return undefined;
}

interface ChildEnv {
  readonly childId: string;
  readonly inherits: (name: string) => boolean;
  /** `NewChild.promoted`. */
  readonly promoted: readonly string[] | undefined;
  /** Overrides what is inherited. */
  readonly given: readonly GivenVariable[];
}

interface Entry {
  readonly value: string;
  readonly type: EnvType;
  readonly withheld: boolean;
}

/** `thread` is the parent's. Throws `InvalidVariable`. */
async function copyEnv(
  context: CommandContext,
  thread: ThreadTransaction,
  { childId, inherits, promoted, given }: ChildEnv,
): Promise<void> {
  const rows = await selectRows(thread.trx, 'env_values', { scope: 'thread', owner: thread.threadId })
    .selectAll()
    .orderBy('name')
    .execute();
  const stored = await listStored(thread, childId);
  const entries = new Map<string, Entry>();
  for (const row of rows) {
    if (stored.has(row.name) || !inherits(row.name)) continue;
    const withheld = row.withheld === 1 || (promoted !== undefined && !promoted.includes(row.name));
    entries.set(row.name, { value: openVariable(context, row), type: row.type, withheld });
  }
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  for (const { name, value, type, withheld = false } of given) {
    const problem = variableProblem(name, value, type);
    if (problem !== undefined) throw new RuntimeError('InvalidVariable', problem);
    entries.set(name, { value, type: type ?? types.get(name) ?? 'secret', withheld });
  }
  for (const [name, { value, type, withheld }] of entries) {
    const place = { scope: 'thread', owner: childId, name, type, withheld: withheld ? 1 : 0 } as const;
    await putVariable(context, thread.trx, place, value);
  }
}

/** Names of the variables that were stored for the child before its thread was made; they win over what it inherits. */
async function listStored({ trx }: ThreadTransaction, childId: string): Promise<ReadonlySet<string>> {
  const rows = await selectRows(trx, 'env_values', { scope: 'thread', owner: childId })
    .select('name')
    .execute();
  return new Set(rows.map(({ name }) => name));
}
