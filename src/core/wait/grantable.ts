/** How far an approval of a wait may reach (core/governance/grant.ts decides it). */
import type { WaitScope } from './answer.ts';

/** What a person may grant for a call, and for its tool; stored with the wait. */
export interface Grantable {
  readonly arguments: WaitScope;
  readonly tool: WaitScope;
  /** Digest of the callee's schema and version: another schema is another tool. Absent for what has no schema. */
  readonly digest?: string;
}

/** From the narrowest to the widest. */
const WIDTHS: readonly WaitScope[] = ['once', 'execution', 'thread', 'always'];

export function isWider(scope: WaitScope, than: WaitScope): boolean {
  return WIDTHS.indexOf(scope) > WIDTHS.indexOf(than);
}
