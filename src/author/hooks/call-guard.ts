/**
 * The hooks before a call: guards, each of which may refuse the call or replace its arguments.
 * - A guard that throws, times out or returns an invalid value refuses the call: it may have had a reason to.
 * - The first guard that refuses ends the chain.
 */
import type { ToolCall } from '../../core/message/message.ts';
import { errorMessage } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { isRecord } from '../../core/value/record.ts';
import { end, go, type Verdict } from '../policy/gate.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import { type AnsweredCall, refuseCall } from '../tool/check-arguments.ts';
import type { HookChain } from './chain.ts';
import { toReturnTypeError } from './returned.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Runs the guards; ends the gate if one refuses the call. `changed`: replacement arguments, not validated yet. */
export type CallGuard = (
  call: ToolCall,
  args: Arguments,
) => Promise<Verdict<{ readonly changed: Arguments | undefined }, AnsweredCall>>;

interface Guarded {
  readonly args: Arguments;
  readonly changed: boolean;
  readonly refusal?: Readonly<Record<'code' | 'hook' | 'reason', string>>;
}

export function createCallGuard(chain: HookChain, env: Pick<ThreadEnv, 'redact' | 'redactKnown'>): CallGuard {
  return async (call, args) => {
    const first: Guarded = { args, changed: false };
    const { refusal, ...guarded } = await chain.run('before_tool_call', first, {
      give: (current) => [withArguments(call, current), current.args],
      take: (current, returned, { name: hook }) => take(current, returned, hook),
      fails: (current, thrown, { name: hook }) => ({
        ...current,
        refusal: { code: 'HookFailed', hook, reason: `The hook "${hook}" failed: ${errorMessage(thrown)}` },
      }),
      // Later guards do not run.
      ends: (current) => current.refusal !== undefined,
    });
    if (!refusal) return go({ changed: guarded.changed ? env.redactKnown(guarded.args) : undefined });
    const { code, hook, reason } = refusal;
    const error = `${code}: "${call.function.name}" was not done. ${reason}`;
    const refused = refuseCall(error, { error_code: code, error_data: { hook } });
    if (refused.kind === 'go') return refused;
    return end({ ...refused.end, result: await env.redact(refused.end.result) });
  };
}

function withArguments(call: ToolCall, { args, changed }: Guarded): ToolCall {
  if (!changed) return call;
  return { ...call, function: { ...call.function, arguments: JSON.stringify(args) } };
}

function take(current: Guarded, returned: unknown, hook: string): Guarded {
  if (returned === undefined || returned === null) return current;
  if (!isRecord(returned) || (returned.block !== true && !isRecord(returned.arguments))) {
    throw toReturnTypeError('{ block: true, reason } or { arguments }', returned);
  }
  if (returned.block !== true) {
    const name = 'the arguments that it returned';
    return { args: toJsonObject(returned.arguments, { name, maxBytes: LIMITS.contentBytes }), changed: true };
  }
  const { reason = NO_REASON } = returned;
  if (typeof reason !== 'string') throw toReturnTypeError('a reason that is a string', reason);
  return { ...current, refusal: { code: 'HookBlocked', hook, reason } };
}

const NO_REASON = 'A hook of the agent blocked it.';
