/** Every test file that imports this module gets its own instance. */
export const met: string[] = [];
