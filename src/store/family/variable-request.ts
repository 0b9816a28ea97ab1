/**
 * Requests for variables that a child needs and that are set nowhere (runtime §7.5). The child is stored as it will be
 * created, without any value; it is created in the transaction that ends the request, so a request is used once. Each
 * has a wait (variable-wait.ts), by which it can also be answered or refused.
 */
import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow, insertRows, selectRows, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { makeChild } from './child-create.ts';
import type { NewChild } from './child-record.ts';
import type { VariableRequestTable } from './family-table.ts';
import type {
  FulfilledRequest,
  FulfilRequest,
  KeepRequest,
  VariableRequest,
} from './variable-request-record.ts';
import { fulfilVariableWait, openVariableWait } from './variable-wait.ts';

type RequestRow = Selectable<VariableRequestTable>;

/** The child as it will be created. */
interface KeptChild {
  readonly child: NewChild;
  readonly scoped: readonly string[];
  readonly types?: KeepRequest['types'];
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
export async function keepRequest(context: CommandContext, command: KeepRequest): Promise<VariableRequest> {
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
      child: JSON.stringify({ child, scoped, types } satisfies KeptChild),
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

export async function fulfilIn(
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
  const { child, scoped, types = {} } = JSON.parse(row.child) as KeptChild;
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
export async function refuseIn(
  parent: ThreadTransaction,
  requestId: string,
): Promise<{ readonly child: NewChild; readonly step: number } | undefined> {
  const row = await findRequest(parent.trx, requestId);
  if (!row || row.completed_at !== null) return undefined;
  await updateRows(parent.trx, 'variable_requests', { id: requestId }, { completed_at: parent.now });
  return { child: (JSON.parse(row.child) as KeptChild).child, step: row.step };
}
