/**
 * Grants: approvals that reach further than one call. A grant is for calls with the same arguments (the same
 * fingerprint), or for every call of a tool whose capabilities are among those that were granted.
 * G1. A grant never overrides what a rule or an author's policy denies, nor what an author's policy (`evaluate`) or a
 *     budget's policy asks: only what rules and the tool's `confirm` ask.
 * - How far a person may go is the narrowest of what the tool (`grantable: false`) and the policy's `grants` allow. For
 *   tools of others (MCP, A2A), a grant of the tool reaches no further than the execution, unless the policy says so.
 */
import { type Grantable, isWider, type WaitScope } from '../wait/answer.ts';
import { findRule } from './policy-rule.ts';

/** The widest scope of a grant, by the names of capabilities, as in rules. */
export type GrantRules = Readonly<Record<string, WaitScope>>;

interface GrantedCall {
  readonly capabilities: readonly string[];
  /** False if its tool must be asked about each time. */
  readonly grantable?: boolean;
  /** True for a tool of a server or an agent elsewhere. */
  readonly remote?: boolean;
}

/** How far grants of a call, and of its tool, may reach. */
export function findWidest(
  rules: GrantRules | undefined,
  { capabilities, grantable = true, remote = false }: GrantedCall,
): Pick<Grantable, 'arguments' | 'tool'> {
  if (!grantable) return { arguments: 'once', tool: 'once' };
  const ruled = capabilities.flatMap((name) => findRule(rules ?? {}, name) ?? []);
  const widest = ruled.reduce((one, other) => (isWider(one, other) ? other : one), 'always');
  const isRuled = ruled.length > 0 && ruled.length === capabilities.length;
  const tool = remote && !isRuled && isWider(widest, 'execution') ? 'execution' : widest;
  return { arguments: widest, tool };
}

/** True if the grant of a tool covers a call with these capabilities. */
export function coversCapabilities(granted: readonly string[], needed: readonly string[]): boolean {
  return needed.every((name) => granted.includes(name));
}
