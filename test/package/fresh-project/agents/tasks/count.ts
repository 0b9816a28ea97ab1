import { defineTask } from 'everthread';

export default defineTask<{ count: number }, { add: number }>({
  observe: ({ history }) => ({ count: history.length }),
  validate: ({ state }) => [{ id: 'counted', passed: state.count > 0 }],
  decide: ({ state }) => ({ kind: 'act', action: { add: 1 - state.count } }),
  act: ({ add }, { idempotencyKey }) => ({ added: add, under: idempotencyKey }),
});
