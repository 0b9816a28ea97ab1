/**
 * The context with which an execution runs (core/governance/run-context.ts). It is composed when the input is drained,
 * from what the thread was started with and what the items bring. If none of them gives a context, nothing is read or
 * written.
 */
import type { Cancellation, CancelRequest } from '../../core/governance/cancellation.ts';
import { readContextMetadata } from '../../core/governance/context-metadata.ts';
import {
  beginContext,
  type GivenContext,
  joinContext,
  lateContext,
  laterContext,
  type RunContext,
} from '../../core/governance/run-context.ts';
import { readContext } from './step-place.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

/** A context in the item itself, or in the metadata of its message. */
export interface WithContext {
  readonly context?: GivenContext;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function givenContext({ context, metadata }: WithContext): GivenContext | null {
  return context ?? readContextMetadata(metadata);
}

export interface ContextPlace {
  readonly executionId: string;
  /** The open execution, which the input joins; undefined if a new execution begins. */
  readonly open: { readonly id: string; readonly run_context: string | null } | undefined;
}

type ContextRow = Pick<
  ThreadTransaction['row'],
  'agent' | 'next_agent' | 'root_id' | 'run_context' | 'organization_id' | 'last_step'
>;

/** Returns null if no context was given. The thread's organisation overrides the one that an item names. */
export function composeContext(
  row: ContextRow,
  given: readonly GivenContext[],
  place: ContextPlace,
): RunContext | null {
  const context = compose(row, given, place);
  const { organization_id: organizationId } = row;
  return context && organizationId !== null ? { ...context, organizationId } : context;
}

function compose(
  row: ContextRow,
  given: readonly GivenContext[],
  { executionId, open }: ContextPlace,
): RunContext | null {
  const place = { executionId, rootId: row.root_id, agent: row.next_agent ?? row.agent };
  if (open === undefined) {
    const standing = readGiven(row.run_context);
    return beginContext(standing && row.last_step > 0 ? laterContext(standing) : standing, given, place);
  }
  const before = readContext(open.run_context);
  if (given.length === 0) return before;
  return before ? joinContext(before, given) : lateContext(given, place);
}

/** Narrows the context of an open execution by what has joined it. Returns true if that has changed it. */
export async function saveContext(
  thread: ThreadTransaction,
  { id, run_context: before }: NonNullable<ContextPlace['open']>,
  context: RunContext | null,
): Promise<boolean> {
  if (context === null) return false;
  const columns = toContextColumns(context);
  if (columns.run_context === before) return false;
  await thread.update('executions', { id }, columns);
  return true;
}

export function readGiven(text: string | null): GivenContext | null {
  return text === null ? null : JSON.parse(text);
}

export function toContextColumns(context: RunContext | null) {
  return {
    run_context: context ? JSON.stringify(context) : null,
    run_id: context?.runId ?? null,
    session_id: context?.sessionId ?? null,
    trace_id: context?.traceId ?? null,
  };
}

/** The JSON text that is stored with the execution. */
export function toCancellation({ reason, by }: Omit<CancelRequest, 'executionId'>, at: number): string {
  return JSON.stringify({ reason: reason ?? null, by: by ?? null, at } satisfies Cancellation);
}

export function readCancellation(text: string | null): Cancellation | null {
  return text === null ? null : JSON.parse(text);
}
