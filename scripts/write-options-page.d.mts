export const page: string;
export const text: string;
