/**
 * Stages that make a child (runtime §7.1, definitions §13.4): its place in the registry, its variables, files and first
 * messages in one transaction, then the parent's hooks. The parent's workflow starts the child's. If the store already
 * counts `maxInstances` living children (store/family/child-create.ts), the result tells the model which of
 * them it may message instead.
 * - A child's id is derived from the call that makes it: the same call again finds the same child.
 * - Hooks run before the child runs. They run again if the worker was lost before its result reached the workflow.
 */

import { definesHook } from '../../author/hooks/listed.ts';
import { end, go } from '../../author/policy/gate.ts';
import { createIds } from '../../author/state/id.ts';
import { refuseCall } from '../../author/tool/check-arguments.ts';
import type { Registry } from '../../core/author/registry.ts';
import { delegatePermissions } from '../../core/governance/agent-policy.ts';
import { childContext, contextOf, type GivenContext } from '../../core/governance/run-context.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE, type Subagent } from '../../core/project/subagent.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { roleTo } from '../../core/thread/session.ts';
import type { SubagentOutcome } from '../../core/thread/step.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import type { ChildLimit, ChildRecord, NewChild } from '../../store/family/family-record.ts';
import { queueTools, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { describeAgent } from '../model/subagent-tools.ts';
import { type ResumableCall, withFrame } from '../tool/resumable-call.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import type { NotBegun } from '../tool-gate/judge-call.ts';
import type { ResolvedCall } from './callee.ts';
import {
  findRequest,
  givenVariables,
  inheritsOf,
  missingVariables,
  requestVariables,
  type ScopedChild,
} from './env.ts';
import type { FirstChildMessage, FoundFiles } from './input.ts';

/**
 * How a call of a subagent leaves its gate without a child: it is answered, it could not begin, or its own thread is
 * over.
 */
export type UnmadeChild =
  | ({ readonly kind: 'answered' } & CallAnswer)
  | NotBegun
  | Extract<SubagentOutcome, { kind: 'terminated' }>;

export interface MadeChild {
  readonly outcome: Extract<SubagentOutcome, { kind: 'child' }>;
}

/** The input from which a child is made. */
interface ChildCall extends ResolvedCall, FoundFiles {
  readonly first: FirstChildMessage;
}

/** Stage: the variables that the child requires; if one is missing, they are requested and no child is made. */
export async function requireChildVariables(
  ports: ActivityDependencies,
  { call, subagent, first, files }: ChildCall,
) {
  const { thread } = call.begun;
  const { step, index } = call.key;
  const child = toNewChild(ports, call, subagent, { ...first, attachments: files });
  const given = await withFrame(ports, call, (frame) => givenVariables(ports, frame, subagent));
  const { required, missing } = await missingVariables(ports, thread, child.agent, given);
  if (missing.length === 0) return go({ child, given });
  const calling = { parentId: thread.id, call: { step, index } };
  const known = await findRequest(ports, calling);
  // No variables are requested for a child that may not be made.
  const limit = known ? null : await ports.store.children.judge(thread.id, child);
  if (limit) return refuseCall(describeLimit(subagent, limit));
  const wanted = { child, given, required, missing };
  return end({ kind: 'answered', ...(known ?? (await requestVariables(ports, calling, wanted))) });
}

/** Stage: creates the child's thread in one transaction, then runs the parent's hooks. */
export async function makeChild(
  ports: ActivityDependencies,
  { call, subagent, child, given }: ChildCall & ScopedChild,
) {
  const { step, index } = call.key;
  const created = await ports.store.children.create({
    parentId: call.begun.thread.id,
    child,
    call: { step, index },
    waits: child.blocking,
    inherits: inheritsOf(ports, child.agent),
    given,
  });
  switch (created.kind) {
    case 'terminated':
      return end(created);
    case 'full':
    case 'refused':
      return refuseCall(describeLimit(subagent, created));
    case 'created':
      await ports.probe?.('subagent_created');
      await runChildCreatedHooks(ports, call, created.start.threadId);
      return go({ outcome: { kind: 'child', child: created.start, start: true, wait: child.blocking } });
  }
}

/** Runs the hooks before the child runs. */
export async function runChildCreatedHooks(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  childId: string,
): Promise<void> {
  const { store, registry } = dependencies;
  if (!definesHook(registry(), 'after_subagent_created')) return;
  await withFrame(dependencies, call, async ({ hooks, sink, scratch, openNewChild }) => {
    if (!hooks.has('after_subagent_created')) return;
    const child = await store.threads.get(childId);
    if (!child) return;
    const flow = watchFlow(hooks, scratch);
    await hooks.afterSubagentCreated(await openNewChild(child));
    await queueTools(store, call.key.threadId, sink)();
    const changes = await flow();
    await store.steps.saveFlow({ ...call.key, ...changes });
  });
}

function toNewChild(
  { store, registry }: ActivityDependencies,
  call: ResumableCall,
  { agent, resumable, blocking, explicit, hears, maxInstances, immediate }: Subagent,
  { name, arguments: args, content, attachments }: FirstChildMessage,
): NewChild {
  const {
    key: { step, index },
    begun: { thread },
  } = call;
  const context = contextForChild(registry(), call);
  // Its id comes from the call.
  const nextId = createIds(store, `${thread.id}:${step}:${index}:child`);
  const threadId = deriveThreadId(agent.name, nextId());
  const first: MessageItem[] = [];
  const silentId = nextId();
  if (Object.keys(args).length > 0) {
    first.push({
      kind: 'message',
      id: silentId,
      role: 'system',
      content: JSON.stringify(args),
      silent: true,
      metadata: { subagentInitialArguments: true },
    });
  }
  first.push(toItem(nextId(), { hears, parentId: thread.id, content, attachments }));
  return {
    threadId,
    agent: agent.name,
    name,
    title: agent.title ?? null,
    description: describeAgent(agent),
    arguments: args,
    resumable,
    blocking,
    explicit,
    hears,
    maxInstances,
    promoted: immediate?.promoted,
    messages: first,
    context,
  };
}

/**
 * The context of a child that this call makes or messages: restricted like the thread, and by its agent's policy too.
 */
export function contextForChild(
  { agents }: Registry,
  { executionId, begun: { thread, runContext } }: ResumableCall,
): GivenContext | undefined {
  const policy = agents.get(thread.agent)?.policy;
  if (!runContext && !policy) return undefined;
  const { agent, rootId } = thread;
  const context = runContext ?? contextOf({}, { executionId, rootId, agent });
  return childContext({ ...context, permissions: delegatePermissions(policy, context.permissions) });
}

interface ChildItemInput {
  readonly hears: 'a' | 'b';
  readonly parentId: string;
  readonly content: string;
  readonly attachments: readonly string[];
  readonly context?: GivenContext | undefined;
}

/** A message of the parent to its child, with the role that makes it input for the side that answers. */
export function toItem(
  id: string,
  { hears, parentId, content, attachments, context }: ChildItemInput,
): MessageItem {
  return {
    kind: 'message',
    id,
    role: roleTo(hears),
    content,
    metadata: { parent_thread_id: parentId },
    attachments: attachments.length > 0 ? attachments : undefined,
    context,
  };
}

function describeLimit(subagent: Subagent, found: ChildLimit): string {
  if (found.kind === 'refused') return `${SUBAGENT_CREATE}: ${found.reason}`;
  return describeAgentLimit(subagent, found.limit, found.living);
}

function describeAgentLimit({ agent }: Subagent, limit: number, living: readonly ChildRecord[]): string {
  const agents = limit === 1 ? 'one subagent' : `${limit} subagents`;
  return (
    `${SUBAGENT_CREATE}: there may be ${agents} "${agent.name}" at a time, and there ${limit === 1 ? 'is' : 'are'}: ` +
    `${describeLiving(living)}. Message ${limit === 1 ? 'it' : 'one of them'} with ${SUBAGENT_MESSAGE} instead.`
  );
}

const MAX_NAMED = 20;

/** Lists references with names, for models. */
export function describeLiving(living: readonly ChildRecord[]): string {
  const more = living.length - MAX_NAMED;
  const named = living
    .slice(0, MAX_NAMED)
    .map(
      ({ threadId, agent, name, status }) => `${threadId} (${agent}${name ? ` "${name}"` : ''}, ${status})`,
    )
    .join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
