/**
 * Reads and writes a context in a message's metadata, under the names `run_context` with all of it, and
 * copies of its ids beside it. Such metadata of a sender is read as a context; the context that a message is stored
 * with is written there.
 * - Reading is tolerant: a field of the wrong type is ignored, except that a rule which cannot be read denies.
 * - Permissions, limits and the mark of a cancelled run count only with `run_context` or one of the ids: words like
 *   these are in the metadata of many applications.
 */
import { isRecord } from '../value/record.ts';
import type { Permissions } from './permissions.ts';
import type { GivenContext, RunContext } from './run-context.ts';
import { RUN_LIMITS } from './run-limit.ts';

type Metadata = Readonly<Record<string, unknown>>;

const MAX_TEXT_CHARS = 200;

/** Returns the first of these fields that is a text. */
function textOf(metadata: Metadata, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = metadata[name];
    if (typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT_CHARS) return value;
  }
  return undefined;
}

/** Null if the metadata holds no context. */
export function readContextMetadata(metadata: Metadata | undefined): GivenContext | null {
  if (metadata === undefined) return null;
  const typed = isRecord(metadata.run_context) ? metadata.run_context : {};
  // Fields of `run_context` take precedence over those beside it.
  const all = { ...metadata, ...dropNull(typed) };
  const ids = {
    runId: textOf(all, 'run_id'),
    sessionId: textOf(all, 'session_id'),
    traceId: textOf(all, 'trace_id'),
    workspaceUri: textOf(all, 'workspace_uri', 'workspace'),
    organizationId: textOf(all, 'organization_id'),
    parentRunId: textOf(all, 'parent_run_id', 'parent_agent'),
  };
  // An id or `run_context` must be there.
  if (Object.values(ids).every((id) => id === undefined) && !isRecord(metadata.run_context)) return null;
  const canceled = all.canceled === true || all.cancelled === true;
  const own = isRecord(typed.metadata) ? typed.metadata : undefined;
  return dropNull({
    ...ids,
    agentChain: Array.isArray(all.agent_chain)
      ? all.agent_chain
          .filter((name) => typeof name === 'string' && name.length <= MAX_TEXT_CHARS)
          .slice(0, 64)
      : undefined,
    permissions: isRecord(all.permissions) ? (all.permissions as Permissions) : undefined,
    budget: readLimits(all.budget ?? all.budgets),
    canceled: canceled ? true : undefined,
    cancelReason: textOf(all, 'cancel_reason', 'cancellation_reason'),
    metadata: own,
  });
}

function readLimits(value: unknown): GivenContext['budget'] {
  if (!isRecord(value)) return undefined;
  const limits = RUN_LIMITS.flatMap((name) => {
    const given = value[name] ?? value[toSnake(name)];
    const limit = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof limit === 'number' && Number.isFinite(limit) && limit >= 0 ? [[name, limit] as const] : [];
  });
  return limits.length > 0 ? Object.fromEntries(limits) : undefined;
}

/** Returns the fields to add to the sender's metadata; copies of null fields are left out. */
export function writeContextMetadata(context: RunContext): Metadata {
  const { runId, sessionId, traceId, workspaceUri, parentRunId, canceled, cancelReason } = context;
  const budget = Object.fromEntries(
    Object.entries(context.budget).map(([name, limit]) => [toSnake(name), limit]),
  );
  return {
    run_context: {
      run_id: runId,
      session_id: sessionId,
      trace_id: traceId,
      workspace_uri: workspaceUri,
      organization_id: context.organizationId,
      parent_run_id: parentRunId,
      agent_chain: context.agentChain,
      permissions: context.permissions,
      budget,
      canceled,
      cancel_reason: cancelReason,
      metadata: context.metadata,
    },
    ...dropNull({
      run_id: runId,
      session_id: sessionId,
      trace_id: traceId,
      workspace_uri: workspaceUri,
      parent_run_id: parentRunId,
      canceled: canceled ? true : null,
      cancel_reason: cancelReason,
    }),
  };
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function dropNull<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Fields;
}
