/**
 * The context of an execution: how its work runs, and never what the work is. Whoever starts a thread, or sends it an
 * item, may give one; it is stored with the execution, and the executions of its children begin with it.
 * - A context narrows: the stronger permission and the lower limit hold, and nothing that comes later lifts them.
 * - The names of the run, its session, its trace and its workspace come from the first context that gives them.
 * - If no context is given, none is stored: it is made of what the execution has anyway (`contextOf`).
 */
import type { Cancellation } from './cancellation.ts';
import { joinPermissions, type Permissions } from './permissions.ts';
import { joinLimits, type RunLimits } from './run-limit.ts';
import { MAX_TRACE_LINKS } from './traceparent.ts';

/** What a start or an item may state about how its work runs. All of it can only narrow (docs/governance.md). */
export interface GivenContext {
  /** A label of one run, indexed and stored; the execution's id if absent. */
  readonly runId?: string;
  /** Groups runs; the root thread's id if absent. */
  readonly sessionId?: string;
  /** Correlates records of several runs and systems. */
  readonly traceId?: string;
  /**
   * The span elsewhere whose part the execution is that begins with this context, as W3C's `traceparent`. To an
   * execution that is running, it is one of `traceLinks`.
   */
  readonly traceparent?: string;
  /** Spans elsewhere that the execution is linked to, as `traceparent`; at most 32. */
  readonly traceLinks?: readonly string[];
  /** What the run is confined to: a folder, a data set, an account. */
  readonly workspaceUri?: string;
  readonly organizationId?: string;
  readonly parentRunId?: string;
  /** Agents that have had the work, the first one first. */
  readonly agentChain?: readonly string[];
  /** Rules over capabilities, flat or as `{ capabilities, default }`. */
  readonly permissions?: Permissions;
  readonly budget?: RunLimits;
  /** True if nothing of the run may begin. */
  readonly canceled?: boolean;
  readonly cancelReason?: string;
  /** Data of the application. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The complete context of an execution, `state.execution.context`. */
export interface RunContext {
  readonly runId: string;
  readonly sessionId: string;
  readonly traceId: string | null;
  /** Absent unless given. */
  readonly traceparent?: string;
  readonly traceLinks?: readonly string[];
  readonly workspaceUri: string | null;
  readonly organizationId: string | null;
  readonly parentRunId: string | null;
  /** Agents that have had the work; the thread's own agent is the last one. */
  readonly agentChain: readonly string[];
  readonly permissions: Permissions;
  readonly budget: RunLimits;
  readonly canceled: boolean;
  readonly cancelReason: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The execution's own values, from which missing fields are filled in. */
export interface ExecutionPlace {
  readonly executionId: string;
  readonly rootId: string;
  readonly agent: string;
}

/** Nothing is widened. R2: the names in `first` take precedence. */
export function narrow(first: GivenContext, then: GivenContext): GivenContext {
  const { permissions = {}, budget = {}, metadata } = first;
  const joined = joinPermissions(permissions, then.permissions ?? {});
  const limits = joinLimits(budget, then.budget ?? {});
  return {
    ...then,
    ...first,
    ...(Object.keys(joined).length > 0 ? { permissions: joined } : {}),
    ...(Object.keys(limits).length > 0 ? { budget: limits } : {}),
    ...linksOf([first.traceLinks, then.traceLinks]),
    ...(metadata || then.metadata ? { metadata: { ...then.metadata, ...metadata } } : {}),
    ...(first.canceled || then.canceled ? { canceled: true } : {}),
  };
}

/**
 * Returns the context that an execution begins with: those of its items, the first one first, over the one that its
 * thread was started with. Null if none was given (R3: nothing is stored).
 */
export function beginContext(
  standing: GivenContext | null,
  items: readonly GivenContext[],
  place: ExecutionPlace,
): RunContext | null {
  if (standing === null && items.length === 0) return null;
  const given = items.reduce<GivenContext>((sum, each) => narrow(sum, each), {});
  return contextOf(narrow(given, standing ?? {}), place);
}

/** Narrows the context of a running execution by that of items that join it. They cannot rename it. */
export function joinContext(context: RunContext, items: readonly GivenContext[]): RunContext {
  const { permissions, budget, metadata } = items.reduce<GivenContext>(
    (sum, { permissions, budget, metadata }) => narrow(sum, { permissions, budget, metadata }),
    { permissions: context.permissions, budget: context.budget, metadata: context.metadata },
  );
  return {
    ...context,
    ...linksOf([
      context.traceLinks,
      ...items.map(({ traceparent, traceLinks = [] }) => [
        ...(traceparent ? [traceparent] : []),
        ...traceLinks,
      ]),
    ]),
    permissions: permissions ?? {},
    budget: budget ?? {},
    metadata: metadata ?? {},
  };
}

/** The context of a running execution that began without one. Items cannot rename it, or move it to another trace. */
export function lateContext(items: readonly GivenContext[], place: ExecutionPlace): RunContext {
  const begun = items.reduce<GivenContext>((sum, each) => narrow(sum, each), {});
  const { traceId: _, traceparent: __, traceLinks: ___, ...given } = begun;
  return joinContext(contextOf(given, place), items);
}

/** What a thread was started with, for an execution after its first. */
export function laterContext({ traceparent: _, traceLinks: __, ...standing }: GivenContext): GivenContext {
  return standing;
}

function linksOf(lists: readonly (readonly string[] | undefined)[]): Pick<RunContext, 'traceLinks'> {
  const links = [...new Set(lists.flatMap((list) => list ?? []))].slice(0, MAX_TRACE_LINKS);
  return links.length > 0 ? { traceLinks: links } : {};
}

/** Fills in missing fields from the execution's place. */
export function contextOf(given: GivenContext, { executionId, rootId, agent }: ExecutionPlace): RunContext {
  const { agentChain = [] } = given;
  return {
    runId: given.runId ?? executionId,
    sessionId: given.sessionId ?? rootId,
    traceId: given.traceId ?? null,
    ...(given.traceparent ? { traceparent: given.traceparent } : {}),
    ...linksOf([given.traceLinks]),
    workspaceUri: given.workspaceUri ?? null,
    organizationId: given.organizationId ?? null,
    parentRunId: given.parentRunId ?? null,
    agentChain: agentChain.at(-1) === agent ? agentChain : [...agentChain, agent],
    permissions: given.permissions ?? {},
    budget: given.budget ?? {},
    canceled: given.canceled ?? false,
    cancelReason: given.cancelReason ?? null,
    metadata: given.metadata ?? {},
  };
}

/** Adds the agent that has the thread now, which after a handoff is not the one that the execution began with. */
export function withAgent(context: RunContext, agent: string): RunContext {
  const { agentChain } = context;
  return agentChain.at(-1) === agent ? context : { ...context, agentChain: [...agentChain, agent] };
}

/** Marks the context as cancelled once a cancellation of its execution was requested. */
export function withCancellation(context: RunContext, canceled: Cancellation | null): RunContext {
  return canceled ? { ...context, canceled: true, cancelReason: canceled.reason } : context;
}

/** The context of a child's report in the parent: the child's, without its parent run and its agent chain. */
export function reportContext({ parentRunId: _, agentChain: __, ...begun }: GivenContext): GivenContext {
  return begun;
}

/** The context that a child's executions begin with: new run ids, otherwise that of the run that calls the child. */
export function childContext(context: RunContext): GivenContext {
  const { runId, sessionId, traceId, workspaceUri, organizationId, ...own } = context;
  const { agentChain, permissions, budget, metadata } = own;
  return {
    sessionId,
    ...(traceId === null ? {} : { traceId }),
    ...(workspaceUri === null ? {} : { workspaceUri }),
    ...(organizationId === null ? {} : { organizationId }),
    parentRunId: runId,
    agentChain,
    permissions,
    budget,
    metadata,
  };
}
