/** ThreadState's tools (definitions §14.6): queued as a normal call, or run now. */
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { findCallee } from '../../core/project/callee.ts';
import { isSubagentCall } from '../../core/project/subagent.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import { createNotes } from '../guard/code-note.ts';
import { refuseTerminated } from '../guard/life.ts';
import { createQuestions } from '../policy/ask.ts';
import {
  type AskedAction,
  calleeOf,
  capabilitiesOf,
  findConfirms,
  findEvaluators,
  rulesFor,
} from '../policy/asked-action.ts';
import { askForCode } from '../policy/code-approval.ts';
import { confirmCall } from '../policy/confirm-call.ts';
import { go, openGate, type Verdict } from '../policy/gate.ts';
import {
  beginInvoked,
  type CodeInvocation,
  endInvoked,
  payInvoked,
  recordInvoked,
  withActionLease,
} from '../policy/invoked-action.ts';
import {
  type Asked,
  type Judged,
  judgeAction,
  prepareAction,
  recheckArguments,
  refuseDenied,
} from '../policy/judge-action.ts';
import { createOwnActions } from '../policy/own-action.ts';
import {
  type AnsweredCall,
  checkToolArguments,
  refuseCall,
  requireVariables,
} from '../tool/check-arguments.ts';
import { toReadOnly, withOverrides } from '../tool/read-only.ts';
import { runToolBody } from '../tool/tool-body.ts';
import type { CallerContext } from './caller-context.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface ToolsInput {
  readonly store: ThreadStore;
  readonly registry: Registry;
  readonly env: ThreadEnv;
  readonly nextId: () => string;
  /** Returns the options of the tool's entry in the active prompt. */
  readonly optionsOf: (tool: ToolDefinition) => ThreadState['options'];
  /** Returns the state of the calling code, on which the state of an invoked tool is based. */
  readonly state: () => ThreadState;
}

export function createTools(
  input: ToolsInput,
  caller: CallerContext,
): Pick<ThreadState, 'queueTool' | 'invokeTool'> {
  const { store, registry, env, nextId } = input;
  const { thread, work, execution } = caller;
  let invoked = 0;
  return {
    queueTool(name, args = {}) {
      caller.life.signal.throwIfAborted();
      const refusal = refuseReach(caller, name);
      if (refusal !== undefined) throw new RuntimeError('InvalidDefinitions', refusal);
      if (!isCallable(registry, name))
        throw new RuntimeError('DefinitionNotFound', `Tool not found: ${String(name)}`);
      const checked = toJsonObject(args, { name: `arguments of "${name}"`, maxBytes: LIMITS.contentBytes });
      work.queueTool({ id: nextId(), name, arguments: env.redactKnown(checked) });
    },
    async invokeTool(name, args = {}) {
      caller.life.signal.throwIfAborted();
      // Read anew: a client or a relative may have ended the thread.
      refuseTerminated(thread.id, (await store.threads.get(thread.id))?.terminatedAt != null);
      const began = performance.now();
      const key = `${caller.idempotencyKey ?? caller.key}:invoked:${invoked++}`;
      const passed = await INVOKED_TOOL.pass(input, { name, given: args, caller, env, key });
      if (passed.kind === 'end') await recordInvoked(input, caller, passed.end.action);
      const { result } = passed.kind === 'go' ? passed.known : passed.end;
      const durationMs = Math.round(performance.now() - began);
      const data = { name: String(name).slice(0, 128), status: result.status, durationMs };
      // The tool has run; a log that cannot be written must not make it look as if it had not.
      await store.events
        .append(thread.id, { type: 'tool.invoked', data, step: execution?.step })
        .catch((error) => void errorMessage(error));
      return result;
    },
  };
}

interface InvokedCall extends CodeInvocation {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly env: ThreadEnv;
}

/**
 * The part of the tool gate (activities/tool-gate/tool-gate.ts) for a tool that code runs at once. The result goes to
 * the code and is not stored, so no hooks run around it, and it is redacted only in what the code writes.
 */
const INVOKED_TOOL = openGate<ToolsInput, InvokedCall, AnsweredCall>()
  .stage(resolveReachable) //    1 resolve: a tool that the calling tool may reach
  .stage(checkToolArguments) //  2 arguments
  .stage(requireVariables) //    3 variables that the tool requires
  .stage(askInvoked) //          4 policy: what the call requests
  .stage(refuseDenied) //        4 policy: refuses denied capabilities
  .stage(guardInvoked) //        4 hooks before: may refuse it, or replace its arguments
  .stage(prepareAction) //       4 policy: its tool describes it
  .stage(judgeAction) //         4 policy: the agent's policy judges it
  .stage(confirmCall) //         4 policy: confirmation, if its tool wants one
  .stage(askForCode) //          4 policy: requests a missing approval
  .stage(recheckArguments) //    4 policy: what is done is what was judged
  .stage(payInvoked) //          4 budget: its execution pays for it
  .stage(beginInvoked) //        4 its action is recorded as begun
  .stage(runInvoked) //          5 body
  .stage(endInvoked); //         5 the end of its action is recorded

function resolveReachable(
  { registry }: ToolsInput,
  { caller, name }: InvokedCall,
): Verdict<{ readonly tool: ToolDefinition }, AnsweredCall> {
  const refusal = refuseReach(caller, name);
  if (refusal !== undefined) return refuseCall(refusal);
  const tool = registry.tools.get(name);
  if (caller.tool?.parallel && tool && !tool.parallel) return refuseCall(describeWriting(caller.tool, name));
  return tool && tool.startsTask === undefined ? go({ tool }) : refuseCall(describeMissing(registry, name));
}

async function askInvoked(
  { registry, store }: ToolsInput,
  { tool, args, caller, key }: InvokedCall & { readonly tool: ToolDefinition; readonly args: unknown },
): Promise<Verdict<Asked & { readonly signal: AbortSignal }, never>> {
  const { thread, signal, execution } = caller;
  const rules = rulesFor(registry, thread.agent, execution?.runContext, tool.name);
  const asked: AskedAction | undefined = rules && {
    id: key,
    kind: 'tool.call',
    name: tool.name,
    capabilities: capabilitiesOf(tool),
    tool,
    rules,
    thread,
    args,
    signal,
    ...findEvaluators(registry, rules.policy, thread.agent),
    ...findConfirms(registry, thread.agent, execution?.prompt),
    runContext: execution?.runContext,
    ...(execution && { executionId: execution.executionId, step: execution.step }),
  };
  return go({ asked: asked && { ...asked, callee: await calleeOf(store, tool, asked) }, signal });
}

type InvokedTool = InvokedCall & Asked & { readonly tool: ToolDefinition; readonly args: unknown };

async function guardInvoked(
  ports: ToolsInput,
  { caller: { guard }, key: id, tool, given, args, asked }: InvokedTool,
): Promise<Verdict<Asked & { readonly args: unknown }, AnsweredCall>> {
  if (!guard) return go({ args, asked });
  const current = (args ?? given) as InvokedCall['given'];
  const target = { name: tool.name, arguments: JSON.stringify(current) };
  const guarded = await guard({ id, type: 'function', function: target }, current);
  if (guarded.kind === 'end') return guarded;
  const { changed } = guarded.added;
  if (!changed) return go({ args, asked });
  const checked = await checkToolArguments(ports, { tool, given: changed });
  if (checked.kind === 'end') return checked;
  return go({ ...checked.added, asked: asked && { ...asked, ...checked.added } });
}

async function runInvoked(
  input: ToolsInput,
  {
    tool,
    args,
    key,
    env,
    caller,
    action,
  }: InvokedCall & Judged & { readonly tool: ToolDefinition; readonly args: unknown },
): Promise<Verdict<{ readonly result: ToolResult }, never>> {
  const whole: ThreadState = withOverrides(input.state(), {
    idempotencyKey: key,
    options: input.optionsOf(tool),
    ...createQuestions(undefined),
    ...createTools({ ...input, state: () => own }, { ...caller, tool, idempotencyKey: key }),
    ...createOwnActions(input, { ...caller, idempotencyKey: key }),
    ...env.bind(tool),
  });
  const own = tool.parallel ? toReadOnly(whole, tool) : whole;
  const about = { threadId: caller.thread.id, code: 'tool', name: tool.name } as const;
  const note = createNotes({ store: input.store, env, ...about, step: caller.execution?.step });
  const body = () => runToolBody({ tool, state: own, args, work: caller.key, note });
  return go({ result: await withActionLease(input, action, body) });
}

/** True for what a call may name: a tool, prompt or agent, or a tool that creates a subagent or messages one. */
function isCallable(registry: Registry, name: string): boolean {
  return findCallee(registry, name) !== undefined || isSubagentCall(registry, name);
}

function describeWriting({ name }: ToolDefinition, invoked: string): string {
  return `The tool "${name}" says parallel: true, so it may invoke only tools that say so too; "${invoked}" does not.`;
}

function describeMissing(registry: Registry, name: string): string {
  return isCallable(registry, name)
    ? `"${name}" is not a tool that can run immediately; queue it with queueTool.`
    : `Tool not found: ${String(name)}`;
}

/** `uses`, when declared, is the whole list of what a tool may reach (definitions §8). */
function refuseReach(
  { tool, reachingTool = tool }: Pick<CallerContext, 'tool' | 'reachingTool'>,
  name: string,
): string | undefined {
  if (reachingTool?.uses === undefined || reachingTool.uses.includes(name)) return undefined;
  return `Tool "${reachingTool.name}" may not reach "${String(name)}": add it to "uses".`;
}
