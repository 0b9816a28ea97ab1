import { defineThreadEndpoint } from 'everthread';

export default defineThreadEndpoint(async (request, state, params) => {
  state.queueTool('find_order', { id: await request.text() });
  return Response.json({ thread: state.threadId, params });
});
