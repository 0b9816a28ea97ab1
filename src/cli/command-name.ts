/** What a person types to reach this command, for texts that say what to type next. */

export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  if (env.npm_lifecycle_event === undefined) return 'everthread';
  // `npm run everthread -- …` in a clone; any other script, and npx itself, stand for an installed command.
  return env.npm_lifecycle_event === 'everthread' ? 'npm run everthread --' : 'npx everthread';
}
