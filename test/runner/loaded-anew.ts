/** Of each test file that imports it there is one. */
export const met: string[] = [];
