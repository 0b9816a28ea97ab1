/** In which order modules have begun. */
export const order: string[] = ['what is imported begins'];
