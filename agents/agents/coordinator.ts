/**
 * Two AI sides in one thread: the coordinator sends researchers out and writes a brief of what they hand in, the reviewer reads
 * it and either asks for changes or approves it. The researchers are threads of their own.
 */
import { defineAgent } from 'everthread';

export default defineAgent({
  name: 'coordinator',
  type: 'dual_ai',
  title: 'Research coordinator',
  description: 'Has questions researched by several researchers at once, and a brief of it reviewed.',
  // It answers when it hands a draft over, and not while it waits.
  sideA: {
    prompt: 'coordinate_research',
    label: 'Coordinator',
    stopOnResponse: false,
    stopTool: 'submit_draft',
    stopToolResponseProperty: 'draft',
    maxSteps: 30,
  },
  sideB: {
    prompt: 'review_brief',
    label: 'Reviewer',
    stopTool: 'request_changes',
    stopToolResponseProperty: 'changes',
    sessionStop: { name: 'approve_brief', messageProperty: 'brief' },
    maxSteps: 10,
  },
  maxSessionTurns: 12,
});
