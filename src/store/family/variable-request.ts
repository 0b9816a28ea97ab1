/**
 * Requests for variables that a child needs and that are set nowhere (runtime §7.5). The child is stored as it will be
 * created, without any value; it is created in the transaction that ends the request, so a request is used once. Each
 * has a wait, by which it can also be answered or refused.
 *
 * A request for variables as a wait of the parent (core/wait): listed, answered and refused like any other. It has the
 * request's id, blocks only the child that is not created yet, and outlives the execution that asks.
 *
 * Answers a wait for variables: `{ value: { NAME: 'text', OTHER: { value, type? } } }` creates the child with them, in
 * the transaction of the answer. The answer keeps only the names: the values are the child's, encrypted.
 * - The same values again are a duplicate, as long as the child has them.
 * - If the variables are refused, the child is not created, and the parent gets a message as for a failed child.
 */

import { hash } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { EnvType } from '../../core/author/thread-env.ts';
import { variableProblem } from '../../core/project/env.ts';
import { roleTo } from '../../core/thread/session.ts';
import { formatReport } from '../../core/thread/subagent-report.ts';
import type { Decision, ValueAnswer, WaitAnswer } from '../../core/wait/answer.ts';
import { judgeAnswer } from '../../core/wait/wait.ts';
import { readEnv } from '../env/env.ts';
import { enqueue } from '../message/queue.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow, insertRows, selectRows, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { insertWait } from '../wait/wait.ts';
import type { AnsweredWait, AnswerWait } from '../wait/wait-record.ts';
import { endWait, findWait, toWait, type WaitRow } from '../wait/wait-row.ts';
import { makeChild } from './child-create.ts';
import type {
  FulfilledRequest,
  FulfilRequest,
  GivenVariable,
  NewChild,
  SaveRequest,
  VariableRequest,
  VariableRequestTable,
} from './family-record.ts';

type RequestRow = Selectable<VariableRequestTable>;

/** The child as it will be created. */
interface PlannedChild {
  readonly child: NewChild;
  readonly scoped: readonly string[];
  readonly types?: SaveRequest['types'];
}

function toRequest(row: RequestRow): VariableRequest {
  return {
    id: row.id,
    parentId: row.parent_id,
    agent: row.agent,
    required: JSON.parse(row.required),
    missing: JSON.parse(row.missing),
    createdAt: row.created_at,
    childId: row.child_id,
  };
}

async function findRequest(db: Kysely<Tables>, id: string): Promise<RequestRow | undefined> {
  return findRow(db, 'variable_requests', { id });
}

/** Stores a request. The same call again returns the existing one. Rejects with `ThreadTerminated`. */
export async function saveRequest(context: CommandContext, command: SaveRequest): Promise<VariableRequest> {
  const { id, parentId, call, required, missing, scoped, types, child } = command;
  return inThread(context, parentId, async (parent) => {
    const known = await findRow(parent.trx, 'variable_requests', {
      parent_id: parentId,
      step: call.step,
      idx: call.index,
    });
    if (known) return toRequest(known);
    refuseTerminated(parent);
    const row: RequestRow = {
      id,
      parent_id: parentId,
      agent: child.agent,
      required: JSON.stringify(required),
      missing: JSON.stringify(missing),
      child: JSON.stringify({ child, scoped, types } satisfies PlannedChild),
      step: call.step,
      idx: call.index,
      created_at: parent.now,
      child_id: null,
      completed_at: null,
    };
    await insertRows(parent.trx, 'variable_requests', [row]);
    const eventData = { requestId: id, agent: child.agent, required, missing };
    parent.emit('variables.requested', eventData, { step: call.step });
    await openVariableWait(context, parent, command);
    return toRequest(row);
  });
}

export async function getRequest({ db }: CommandContext, id: string): Promise<VariableRequest | null> {
  const row = await findRequest(db, id);
  return row ? toRequest(row) : null;
}

/** Open requests, oldest first: fulfilled and refused ones are left out. */
export async function listRequests(
  { db }: CommandContext,
  parentId: string,
): Promise<readonly VariableRequest[]> {
  const rows = await selectRows(db, 'variable_requests', {
    parent_id: parentId,
    child_id: null,
    completed_at: null,
  })
    .selectAll()
    .orderBy('created_at')
    .orderBy('step')
    .orderBy('idx')
    .execute();
  return rows.map(toRequest);
}

/**
 * Creates the child with the given values, and ends the request in the same transaction. Rejects with
 * `InvalidVariable`.
 */
export async function fulfilRequest(
  context: CommandContext,
  command: FulfilRequest,
): Promise<FulfilledRequest> {
  return inThread(context, command.parentId, (parent) => fulfilIn(context, parent, command));
}

async function fulfilIn(
  context: CommandContext,
  parent: ThreadTransaction,
  { parentId, requestId, given, by }: FulfilRequest & { readonly by?: string },
): Promise<FulfilledRequest> {
  const row = await findRequest(parent.trx, requestId);
  if (row?.parent_id !== parentId) return { kind: 'unknown' };
  if (row.child_id !== null) return { kind: 'used', childId: row.child_id };
  if (row.completed_at !== null) return { kind: 'closed' };
  if (parent.row.terminated_at !== null) return { kind: 'terminated' };
  const known = new Set(given.map(({ name }) => name));
  const names = toRequest(row).missing.filter((name) => !known.has(name));
  if (names.length > 0) return { kind: 'missing', names };
  const { child, scoped, types = {} } = JSON.parse(row.child) as PlannedChild;
  const made = await makeChild(context, parent, {
    child,
    call: null,
    waits: false,
    inherits: (name) => !scoped.includes(name),
    given: given.map((each) => ({ ...each, type: each.type ?? types[each.name] })),
  });
  if (made.kind !== 'created') return made;
  await updateRows(
    parent.trx,
    'variable_requests',
    { id: requestId },
    { child_id: made.child.threadId, completed_at: parent.now },
  );
  await fulfilVariableWait(
    parent,
    requestId,
    given.map(({ name }) => name),
    by,
  );
  return made;
}

/** Ends a request without creating its child. Returns the child as it was planned; undefined if the request is over. */
async function refuseIn(
  parent: ThreadTransaction,
  requestId: string,
): Promise<{ readonly child: NewChild; readonly step: number } | undefined> {
  const row = await findRequest(parent.trx, requestId);
  if (!row || row.completed_at !== null) return undefined;
  await updateRows(parent.trx, 'variable_requests', { id: requestId }, { completed_at: parent.now });
  return { child: (JSON.parse(row.child) as PlannedChild).child, step: row.step };
}

/** The wait's data: what people see of the request. */
interface AskedVariables {
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /** Variables that are not listed are secrets. */
  readonly types: Readonly<Record<string, EnvType>>;
}

async function openVariableWait(
  context: CommandContext,
  parent: ThreadTransaction,
  { id, required, missing, types = {}, child: { agent } }: SaveRequest,
): Promise<void> {
  const asked: AskedVariables = { agent, required, missing, types };
  const wait = {
    id,
    threadId: parent.threadId,
    key: `variables:${id}`,
    kind: 'variables',
    name: agent,
    summary: `Variables of the subagent "${agent}": ${missing.join(', ')}`,
    data: asked,
    blocks: false,
  } as const;
  await insertWait(parent, wait, { context, heard: 1, now: await context.clock(parent.trx) });
}

/** Ends the wait once the child is created, however the values came. The answer keeps only the names. */
async function fulfilVariableWait(
  parent: ThreadTransaction,
  requestId: string,
  names: readonly string[],
  by?: string,
): Promise<void> {
  const answer: WaitAnswer = { value: { given: [...names].sort() }, by };
  const row = await findWait(parent.trx, requestId);
  if (row?.state === 'open') await endWait(parent, row, { state: 'answered', answer });
}

export async function answerVariables(
  context: CommandContext,
  parent: ThreadTransaction,
  row: WaitRow,
  command: AnswerWait,
  now: number,
): Promise<AnsweredWait> {
  const { answer } = command;
  const wait = toWait(row, now);
  const outcome = judgeAnswer(wait, command, now);
  if ('value' in answer) {
    if (outcome === 'already_answered' && (await isSame(context, parent, row.id, answer)))
      return { outcome: 'duplicate', wait };
    return outcome === 'taken'
      ? createFromAnswer(context, parent, row, answer, now)
      : toOutcome(outcome, wait);
  }
  if (outcome !== 'taken') return toOutcome(outcome, wait);
  if (answer.approved)
    return toMisfit('variables are provided as a "value", or refused with "approved": false');
  await refuse(parent, row, answer);
  const ended = await endWait(parent, row, { state: 'answered', answer });
  return { outcome, wait: toWait(ended, now) };
}

function toOutcome(outcome: ReturnType<typeof judgeAnswer>, wait: ReturnType<typeof toWait>): AnsweredWait {
  return outcome === 'unknown' ? { outcome } : { outcome, wait };
}

function toMisfit(reason: string): AnsweredWait {
  return { outcome: 'misfit', reason };
}

async function createFromAnswer(
  context: CommandContext,
  parent: ThreadTransaction,
  row: WaitRow,
  { value, by }: ValueAnswer,
  now: number,
): Promise<AnsweredWait> {
  const given = toGiven(value);
  if (typeof given === 'string') return toMisfit(given);
  const command = {
    parentId: parent.threadId,
    requestId: row.id,
    given,
    by,
  };
  const fulfilled = await fulfilIn(context, parent, command);
  switch (fulfilled.kind) {
    case 'missing':
      return toMisfit(`it does not provide ${fulfilled.names.join(', ')}; provide all of them at once`);
    case 'full':
      return toMisfit(`there are ${fulfilled.limit} living subagents of this kind, which is the limit`);
    case 'refused':
      return toMisfit(`the subagent cannot be created: ${fulfilled.reason}`);
    case 'created': {
      const ended = (await findWait(parent.trx, row.id)) ?? row;
      return { outcome: 'taken', wait: toWait(ended, now) };
    }
    default:
      return { outcome: 'closed', wait: toWait(row, now) };
  }
}

/** Returns a message if the value cannot be used; the message contains no value of a variable. */
function toGiven(value: unknown): GivenVariable[] | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return '"value" must be an object of variables by name';
  const given: GivenVariable[] = [];
  for (const [name, each] of Object.entries(value)) {
    const { value: text, type } = (typeof each === 'object' && each !== null ? each : { value: each }) as {
      readonly value: unknown;
      readonly type?: unknown;
    };
    const problem = variableProblem(name, text, type);
    if (problem !== undefined) return problem;
    given.push({ name, value: text as string, type: type === undefined ? undefined : (type as EnvType) });
  }
  return given;
}

async function isSame(
  context: CommandContext,
  { trx }: ThreadTransaction,
  requestId: string,
  { value }: ValueAnswer,
): Promise<boolean> {
  const request = await findRow(trx, 'variable_requests', { id: requestId }, ['child_id']);
  const given = toGiven(value);
  if (!request?.child_id || typeof given === 'string') return false;
  const stored = await readEnv({ ...context, db: trx }, request.child_id, null);
  const values = new Map(
    stored.filter(({ scope }) => scope === 'thread').map((each) => [each.name, each.value]),
  );
  return given.every(({ name, value: text }) => values.get(name) === text);
}

/** Queues the refusal as a message to the parent. */
async function refuse(parent: ThreadTransaction, row: WaitRow, { reason, by }: Decision): Promise<void> {
  const refused = await refuseIn(parent, row.id);
  if (!refused) return;
  const who = by === undefined ? 'were refused' : `were refused by ${by}`;
  const content = `The subagent was not created: the variables that it needs ${who}${reason === undefined ? '.' : `: ${reason}`}`;
  const { child, step } = refused;
  const asked = await parent.find('steps', { step }, ['side']);
  await enqueue(parent, {
    kind: 'message',
    id: hash('sha256', `variables refused:${row.id}`).slice(0, 32),
    role: roleTo(asked?.side ?? 'a'),
    content: formatReport(child, { kind: 'failure', content, attachments: [] }),
    silent: true,
    metadata: { subagent_id: child.threadId },
  });
}
