import { defineManifest } from 'everthread';

export default defineManifest({
  id: 'counter',
  repoRoot: `${import.meta.dirname}/..`,
  surfaces: { tools: 'tools' },
  rubric: { dimensions: [{ id: 'counted', weight: 1, score: ({ output }) => (output === null ? 0 : 1) }] },
  run: 'count',
});
