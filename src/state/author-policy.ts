/**
 * Runs the policy that an agent names (`policy.evaluate`), within the time limit of a hook. It may run more than once
 * for a call, and fails closed: an error, or no answer in time, denies.
 */
import type { PolicyDefinition } from '../core/author/policy.ts';
import type { PolicyDecision } from '../core/governance/capability-policy.ts';
import { decideByRules, joinVerdict, type OwnVerdict, readVerdict } from '../core/governance/own-decision.ts';
import { errorMessage } from '../core/value/error.ts';
import { type AskedAction, toAction } from './asked-action.ts';
import { runAuthorCode } from './author-run.ts';
import { freezeDeep } from './freeze-deep.ts';
import { withinTime } from './within-time.ts';

/** Returns the joint decision of the rules and the policy. `decision` is that of the rules. */
export async function askPolicy(
  policy: PolicyDefinition,
  asked: AskedAction,
  decision: PolicyDecision,
): Promise<PolicyDecision> {
  const { rules, capabilities } = asked;
  const floor = decideByRules(rules.policy, capabilities, rules.context);
  if (floor.effect === 'deny') return floor;
  const verdict = await evaluate(policy, asked, decision);
  return verdict ? joinVerdict(policy.name, floor, capabilities, verdict) : decision;
}

async function evaluate(
  { name, evaluate: judge }: PolicyDefinition,
  asked: AskedAction,
  decision: PolicyDecision,
): Promise<OwnVerdict | undefined> {
  const { thread, signal, executionId = null, runContext = null, args } = asked;
  const { id: threadId, agent, userId } = thread;
  const action = freezeDeep(structuredClone({ ...toAction(asked), arguments: args ?? {} }));
  const decided = freezeDeep(structuredClone(decision));
  const context = {
    threadId,
    agent,
    userId,
    executionId,
    context: freezeDeep(structuredClone(runContext)),
    signal,
  };
  const run = { code: 'policy', name, threadId, work: asked.id } as const;
  try {
    const answer = await withinTime(
      async () => runAuthorCode(run, async () => judge?.(action, decided, context)),
      { signal },
    );
    return readVerdict(name, answer);
  } catch (error) {
    if (signal.aborted) throw error;
    return { effect: 'deny', reason: `The policy "${name}" could not judge it: ${errorMessage(error)}` };
  }
}
