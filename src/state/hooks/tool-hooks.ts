/**
 * The hooks of a tool call's result (definitions §9, §12.4): they replace it, recover a failure, or remove the call.
 */
import type { ToolCall, ToolResult } from '../../core/message/message.ts';
import type { HookChain } from './chain.ts';
import { readResult } from './returned.ts';

/** Returns null if a hook removed the call; the remaining hooks of its kind do not run. */
export async function afterToolCall(
  chain: HookChain,
  call: ToolCall,
  result: ToolResult,
): Promise<ToolResult | null> {
  const name = result.status === 'success' ? 'after_tool_call_success' : 'after_tool_call_failure';
  return chain.run<ToolResult | null>(name, result, {
    give: (current) => [call, current],
    take: (current, returned) => {
      if (returned === undefined) return current;
      return returned === null ? null : readResult(returned);
    },
    ends: (current) => current === null,
  });
}

export async function beforeStoreResult(
  chain: HookChain,
  call: ToolCall,
  result: ToolResult,
): Promise<ToolResult> {
  return chain.run('before_store_tool_result', result, {
    give: (current) => [call, current],
    take: (current, returned) =>
      returned === undefined || returned === null ? current : readResult(returned),
  });
}
