/**
 * `state.act`: actions of code that are not tools. They pass the stages of an invoked tool (tools.ts); the executor is
 * the body.
 * - If nothing judges the thread's calls, no action is logged or stored: the executor just runs.
 */

import type {
  OwnAction,
  OwnActionContext,
  OwnActionResult,
  ThreadActions,
} from '../../core/author/own-action.ts';
import type { Registry } from '../../core/author/registry.ts';
import { CALL_KINDS, findRules } from '../../core/governance/agent-policy.ts';
import { CAPABILITY } from '../../core/governance/policy-rule.ts';
import { type PreparedAction, readPrepared } from '../../core/governance/prepared-action.ts';
import { errorMessage, isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { isRecord } from '../../core/value/record.ts';
import type { CallerContext } from '../state/caller-context.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { AnsweredCall } from '../tool/check-arguments.ts';
import { findEvaluators } from './asked-action.ts';
import { askForCode } from './code-approval.ts';
import { go, openGate, type Verdict } from './gate.ts';
import {
  type ActionEnding,
  beginInvoked,
  type CodeInvocation,
  endInvoked,
  type InvokedPorts,
  payInvoked,
  recordInvoked,
  withActionLease,
} from './invoked-action.ts';
import { type Asked, type Judged, judgeAction, refuseDenied } from './judge-action.ts';

interface OwnPorts extends InvokedPorts {
  readonly registry: Registry;
  readonly env: ThreadEnv;
}

export function createOwnActions(input: OwnPorts, caller: CallerContext): ThreadActions {
  let acted = 0;
  return {
    async act<Value>(
      given: OwnAction,
      execute: (context: OwnActionContext) => Value | Promise<Value>,
    ): Promise<OwnActionResult<Value>> {
      const own = checkAction(given, execute);
      const work = caller.idempotencyKey ?? caller.key;
      const key = `${work}:act:${own.key === undefined ? acted++ : `:${own.key}`}`;
      caller.signal.throwIfAborted();
      const passed = await OWN_ACTION.pass(input, { own, execute, caller, key, env: input.env, tool: own });
      if (passed.kind === 'end') return toRefusedResult(key, await recordRefusal(input, caller, passed.end));
      const { ended } = passed.known;
      // The executor returns a Value.
      return 'value' in ended ? { ...ended, value: ended.value as Value } : ended;
    },
  };
}

type CheckedAction = Required<Pick<OwnAction, 'kind' | 'name' | 'arguments'>> &
  Pick<OwnAction, 'key' | 'approvalTimeoutMs'> & { readonly prepared: PreparedAction };

interface OwnCall extends CodeInvocation, Pick<OwnPorts, 'env'> {
  readonly own: CheckedAction;
  readonly tool: Pick<OwnAction, 'approvalTimeoutMs'>;
  readonly execute: (context: OwnActionContext) => unknown;
}

const OWN_ACTION = openGate<OwnPorts, OwnCall, AnsweredCall>()
  .stage(askOwn) //        4 policy: what the action requests
  .stage(refuseDenied) //  4 policy: refuses denied capabilities
  .stage(judgeAction) //   4 policy: the agent's policy judges it
  .stage(askForCode) //    4 policy: requests a missing approval
  .stage(payInvoked) //    4 budget: its execution pays for it
  .stage(beginInvoked) //  4 recorded as begun
  .stage(runOwn) //        5 its executor
  .stage(endInvoked); //   5 its end is recorded

function askOwn(
  { registry, env }: OwnPorts,
  { own, caller: { thread, execution, signal }, key }: OwnCall,
): Verdict<Asked, never> {
  const { kind, name, arguments: args, prepared } = own;
  const rules = findRules(registry.agents.get(thread.agent)?.policy, execution?.runContext);
  if (!rules) return go({ asked: undefined });
  const asked = {
    id: key,
    kind,
    name,
    rules,
    thread,
    signal,
    capabilities: prepared.capabilities ?? [],
    args,
    prepared: env.redactKnown(prepared),
    ...findEvaluators(registry, rules.policy, thread.agent),
    runContext: execution?.runContext,
    ...(execution && { executionId: execution.executionId, step: execution.step }),
  };
  return go({ asked });
}

type Ended = OwnActionResult<unknown>;

async function runOwn(
  ports: OwnPorts,
  { execute, key, action, caller: { signal } }: OwnCall & Judged,
): Promise<Verdict<{ readonly ended: Ended; readonly result: ActionEnding }, never>> {
  try {
    const context = Object.freeze({ actionId: key, signal });
    const value = await withActionLease(ports, action, async () => execute(context));
    return go({ ended: { status: 'success', actionId: key, value }, result: { status: 'success' } });
  } catch (error) {
    const failure = { status: 'error', error: errorMessage(error) } as const;
    const { code } = isRuntimeError(error) ? error : {};
    return go({ ended: { ...failure, actionId: key, ...(code && { code }) }, result: failure });
  }
}

async function recordRefusal(
  input: OwnPorts,
  caller: CallerContext,
  { action, result }: AnsweredCall,
): Promise<AnsweredCall['result']> {
  await recordInvoked(input, caller, action);
  return result;
}

function toRefusedResult(
  actionId: string,
  { error = '', ...told }: AnsweredCall['result'],
): Ended & { status: 'error' } {
  const { error_code: code, error_data: data } = told;
  const { waitId } = (data ?? {}) as { waitId?: string };
  return { status: 'error', actionId, error, ...(code && { code }), ...(waitId && { waitId }) };
}

const NAME_CHARS = 128;

/** Validates an action, and returns a copy as JSON. */
function checkAction(given: OwnAction, execute: unknown): CheckedAction {
  const {
    kind,
    name,
    key,
    arguments: args = {},
    approvalTimeoutMs,
    ...prepared
  } = isRecord(given) ? given : ({} as OwnAction);
  const bad = (problem: string) => new RuntimeError('InvalidValue', `state.act: ${problem}.`);
  if (typeof kind !== 'string' || kind.length > NAME_CHARS || !CAPABILITY.test(kind))
    throw bad('"kind" must consist of letters, digits, "_", "-" and ":", in parts separated by dots');
  if (CALL_KINDS.some((each) => each === kind)) throw bad(`"${kind}" is reserved for the runtime`);
  if (!isText(name)) throw bad(`"name" must be a string of 1 to ${NAME_CHARS} characters`);
  if (key !== undefined && !isText(key)) throw bad(`"key" must be a string of 1 to ${NAME_CHARS} characters`);
  if (approvalTimeoutMs !== undefined && !(Number.isSafeInteger(approvalTimeoutMs) && approvalTimeoutMs > 0))
    throw bad('"approvalTimeoutMs" must be a whole number of milliseconds, 1 or more');
  if (typeof execute !== 'function') throw bad('its second argument must be the function that performs it');
  return {
    kind,
    name,
    key,
    approvalTimeoutMs,
    arguments: toJsonObject(args, { name: `arguments of "${name}"`, maxBytes: LIMITS.contentBytes }),
    prepared: readPrepared(prepared, `the action "${name}"`),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= NAME_CHARS;
}
