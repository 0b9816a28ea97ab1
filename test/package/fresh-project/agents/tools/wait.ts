import { defineTool } from 'everthread';

export const wait = defineTool({
  description: 'Waits for nothing.',
  execute: (state) => ({ status: 'success', result: state.threadId }),
});

export default wait;
