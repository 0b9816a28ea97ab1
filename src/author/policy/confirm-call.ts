/**
 * Stage: requires a confirmation if the tool has `confirm`, whatever the policy decides. The policy's approval and the
 * confirmation are one wait; a denial stays a denial.
 * - `guards.confirm: 'auto'` confirms automatically and records this in the decision. The policy's decision stands.
 */
import type { ToolDefinition } from '../../core/author/registry.ts';
import { errorMessage } from '../../core/value/error.ts';
import { runAuthorCode } from '../guard/author-run.ts';
import { withinTime } from '../guard/within-time.ts';
import { type AnsweredCall, refuseCall } from '../tool/check-arguments.ts';
import type { AskedAction } from './asked-action.ts';
import { go, type Verdict } from './gate.ts';
import type { Asked, Judged } from './judge-action.ts';

export async function confirmCall(
  _ports: unknown,
  { asked, action, tool }: Asked & Judged & { readonly tool: ToolDefinition },
): Promise<Verdict<Judged, AnsweredCall>> {
  if (!asked || !action || tool.confirm === undefined) return go({ action });
  try {
    const confirm = await askTool(tool, asked);
    if (confirm === undefined) return go({ action });
    const { decision } = action;
    if (asked.confirms === 'auto')
      return go({ action: { ...action, decision: { ...decision, confirm, confirmedBy: 'auto' } } });
    const reason = decision.effect === 'allow' ? 'The tool asks for a confirmation' : decision.reason;
    return go({
      action: { ...action, decision: { ...decision, effect: 'require_approval', reason, confirm } },
    });
  } catch (error) {
    if (asked.signal.aborted) throw error;
    return refuseCall(
      `"${tool.name}" was not done, because it could not be confirmed: ${errorMessage(error)}`,
    );
  }
}

/** Returns the text to confirm; undefined if this call needs no confirmation. */
async function askTool(
  { name, confirm }: ToolDefinition,
  { thread, id, args, signal }: AskedAction,
): Promise<string | undefined> {
  if (confirm === true) return `${name} ${JSON.stringify(args ?? {})}`;
  const run = { code: 'tool', name, threadId: thread.id, work: id } as const;
  const ask = confirm as (args: unknown) => unknown;
  const answer = await withinTime(async () => runAuthorCode(run, async () => ask(args)), { signal });
  if (answer === null || answer === undefined) return undefined;
  if (typeof answer !== 'string') throw new Error('its confirm returned neither a string nor null');
  return answer;
}
