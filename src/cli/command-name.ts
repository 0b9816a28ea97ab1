/** The command as the user invoked it, for texts that suggest the next command. */

export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  if (env.npm_lifecycle_event === undefined) return 'everthread';
  // `npm run everthread -- …` in a clone; any other script, and npx, invoke an installed command.
  return env.npm_lifecycle_event === 'everthread' ? 'npm run everthread --' : 'npx everthread';
}
