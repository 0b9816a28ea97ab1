import { defineHook } from '@standardagents/spec';

export default defineHook({
  hook: 'after_tool_call_success',
  id: 'note_calls',
  execute: async (state, call, result) => {
    const noted = (await state.getValue<string[]>('calls')) ?? [];
    await state.setValue('calls', [...noted, call.function.name]);
    return result;
  },
});
