import { defineAgent } from '@standardagents/spec';

/** Works on its own until it has something to report. */
export default defineAgent({
  name: 'scout',
  type: 'dual_ai',
  exposeAsTool: true,
  toolDescription: 'Finds out about a place.',
  maxSessionTurns: 6,
  sideA: {
    prompt: 'scout',
    label: 'Scout',
    stopOnResponse: false,
    stopTool: 'report_findings',
    sessionStop: { name: 'report_findings', messageProperty: 'summary' },
  },
  sideB: { prompt: 'doubting', label: 'Critic' },
});
