/**
 * The context of an execution: how its work runs, and never what the work is. Whoever starts a thread, or sends it something, may give one; it
 * is kept with the execution, and its children begin with what it says.
 * R1. A context narrows. Of permissions the stronger effect holds, of limits the lower one; nothing that comes later lifts them.
 * R2. What names the run, its session, its trace and its place comes from the first that gives it.
 * R3. Where nobody gives one, nothing is kept: the context is made of what the execution has anyway (`contextOf`).
 */
import type { Cancellation } from './cancellation.ts';
import { joinPermissions, type Permissions } from './permissions.ts';
import { joinLimits, type RunLimits } from './run-limit.ts';

/** What a start or an item may say of how its work is to run. All of it can only narrow (docs/governance.md). */
export interface GivenContext {
  /** A label of one run, indexed and kept; the execution's id where absent. */
  readonly runId?: string;
  /** Groups runs; the root thread's id where absent. */
  readonly sessionId?: string;
  /** Joins records of several runs and systems. */
  readonly traceId?: string;
  /** What the run is confined to: a folder, a data set, an account. */
  readonly workspaceUri?: string;
  readonly organizationId?: string;
  readonly parentRunId?: string;
  /** Agents that have had the work, the first one first. */
  readonly agentChain?: readonly string[];
  /** Rules over capabilities, flat or as `{ capabilities, default }`. */
  readonly permissions?: Permissions;
  readonly budget?: RunLimits;
  /** Nothing of it may begin. */
  readonly canceled?: boolean;
  readonly cancelReason?: string;
  /** The application's own. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** As `state.execution.context` has it. */
export interface RunContext {
  readonly runId: string;
  readonly sessionId: string;
  readonly traceId: string | null;
  readonly workspaceUri: string | null;
  readonly organizationId: string | null;
  readonly parentRunId: string | null;
  /** The thread's own agent is the last one. */
  readonly agentChain: readonly string[];
  readonly permissions: Permissions;
  readonly budget: RunLimits;
  readonly canceled: boolean;
  readonly cancelReason: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Where an execution is. */
export interface ExecutionPlace {
  readonly executionId: string;
  readonly rootId: string;
  readonly agent: string;
}

/** R1: nothing is widened. R2: the first that names the run has named it. */
export function narrow(first: GivenContext, then: GivenContext): GivenContext {
  const { permissions = {}, budget = {}, metadata } = first;
  const joined = joinPermissions(permissions, then.permissions ?? {});
  const limits = joinLimits(budget, then.budget ?? {});
  return {
    ...then,
    ...first,
    ...(Object.keys(joined).length > 0 ? { permissions: joined } : {}),
    ...(Object.keys(limits).length > 0 ? { budget: limits } : {}),
    ...(metadata || then.metadata ? { metadata: { ...then.metadata, ...metadata } } : {}),
    ...(first.canceled || then.canceled ? { canceled: true } : {}),
  };
}

/**
 * What an execution begins with: what comes with its items, the first one first, over what its thread was started with. Null where nobody has
 * given anything (R3: nothing is kept).
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

/** What an execution goes on with when items with a context join it. They cannot rename it. */
export function joinContext(context: RunContext, items: readonly GivenContext[]): RunContext {
  const { permissions, budget, metadata } = items.reduce<GivenContext>(
    (sum, { permissions, budget, metadata }) => narrow(sum, { permissions, budget, metadata }),
    { permissions: context.permissions, budget: context.budget, metadata: context.metadata },
  );
  return { ...context, permissions: permissions ?? {}, budget: budget ?? {}, metadata: metadata ?? {} };
}

/** R3: of what there is anyway. */
export function contextOf(given: GivenContext, { executionId, rootId, agent }: ExecutionPlace): RunContext {
  const { agentChain = [] } = given;
  return {
    runId: given.runId ?? executionId,
    sessionId: given.sessionId ?? rootId,
    traceId: given.traceId ?? null,
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

/** As the agent sees it that has the thread now: after a handoff it is another one than the execution began with. */
export function withAgent(context: RunContext, agent: string): RunContext {
  const { agentChain } = context;
  return agentChain.at(-1) === agent ? context : { ...context, agentChain: [...agentChain, agent] };
}

/** As it reads once somebody has asked to cancel its execution. */
export function withCancellation(context: RunContext, canceled: Cancellation | null): RunContext {
  return canceled ? { ...context, canceled: true, cancelReason: canceled.reason } : context;
}

/** What goes back with a child's report to whom has asked it: what the child was confined to, and no run of its own. */
export function reportContext({ parentRunId: _, agentChain: __, ...begun }: GivenContext): GivenContext {
  return begun;
}

/** What a child's executions begin with: new run ids, and all else as in the run that asks the child. */
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
