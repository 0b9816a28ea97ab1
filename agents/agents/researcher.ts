/** A subagent: finds in the handbook what its parent asks for, reviewed by a skeptic, and hands it in with its notes. */
import { defineAgent } from 'everthread';

export default defineAgent({
  name: 'researcher',
  type: 'dual_ai',
  title: 'Researcher',
  description: 'Researches one question in the handbook.',
  exposeAsTool: true,
  toolDescription: 'Researches one question in the handbook and hands in findings, with notes as a file.',
  sideA: {
    prompt: 'research_handbook',
    label: 'Researcher',
    sessionStop: { name: 'hand_in', messageProperty: 'findings', attachmentsProperty: 'notes' },
    maxSteps: 20,
  },
  sideB: { prompt: 'question_findings', label: 'Skeptic', maxSteps: 6 },
  maxSessionTurns: 8,
});
