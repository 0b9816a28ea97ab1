import { defineThreadEndpoint } from '@standardagents/spec';

export default defineThreadEndpoint(async (_req, state) => {
  const { messages } = await state.getMessages({ limit: 1, order: 'desc' });
  return Response.json({
    agent: (await state.loadAgent(state.agentId)).title,
    calls: await state.getValue('calls'),
    reminder: await state.getValue('reminder'),
    last: messages[0]?.content,
  });
});
