/**
 * Ends the execution until a report arrives: a queued message begins the next one. Otherwise a coordinator whose
 * researchers are working would be asked again and again what to do.
 */
import { defineTool } from 'everthread';

export default defineTool({
  description:
    'Call this, last, when you wait for researchers: you are asked again when one of them reports.',
  quick: true,
  execute(state) {
    state.execution?.stop();
    const out = state.children.filter(({ status }) => status === 'running');
    return { status: 'success', result: `Waiting. ${out.length} of ${state.children.length} are at work.` };
  },
});
