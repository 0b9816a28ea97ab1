/** Field `policy` of an agent, in both of its forms: rules only, or an object with rules and defaults. */
import { z } from 'zod';
import type { AgentPolicy } from '../core/governance/agent-policy.ts';
import { CAPABILITY, isRuleName, POLICY_EFFECTS } from '../core/governance/policy-rule.ts';
import { WAIT_SCOPES } from '../core/wait/answer.ts';
import { isFields, type RawFields } from './check.ts';
import { text } from './field.ts';

const effect = z.enum(POLICY_EFFECTS);

const rulesOf = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string(), value).check((context) => {
    for (const name of Object.keys(context.value)) {
      if (isRuleName(name)) continue;
      const message =
        "is not a valid rule name: write a capability such as 'records.write', 'records.*', or '*'";
      context.issues.push({ code: 'custom', input: name, path: [name], message });
    }
  });

const whole = {
  rules: rulesOf(effect).default({}),
  default: effect.default('allow'),
  undeclared: effect.optional(),
  evaluate: text.optional(),
  approvals: z.enum(['wait', 'refuse']).default('wait'),
  onDenied: z.enum(['continue', 'fail']).default('continue'),
  onUncertain: z.enum(['continue', 'wait']).optional(),
  grants: rulesOf(z.enum(WAIT_SCOPES)).optional(),
};

/**
 * True if a key is a field of the object form. So a rule for a capability with such a name must be inside `rules`.
 */
const isWhole = (value: RawFields) => Object.keys(value).some((name) => Object.hasOwn(whole, name));

export const policy = z
  .preprocess(
    (value) => (isFields(value) && !isWhole(value) ? { rules: value } : value),
    z.strictObject(whole),
  )
  .transform(
    ({ undeclared, ...fields }): AgentPolicy => ({
      ...fields,
      undeclared: undeclared ?? fields.default,
    }),
  );

export const capabilities = z.array(
  z.string().regex(CAPABILITY, {
    error:
      "must be a capability: letters, digits, '_', '-' and ':', separated by dots, such as 'records.write'",
  }),
);
