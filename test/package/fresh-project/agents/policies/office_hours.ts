import { definePolicy } from 'everthread';

export default definePolicy({
  evaluate: ({ name }, decision, { agent }) =>
    decision.effect === 'allow'
      ? undefined
      : { effect: 'require_approval', reason: `${agent} asks before ${name}` },
});
